#!/usr/bin/env bash
# check_mcp.sh PATH_TO_CALLGATE: the official MCP conformance scenarios, pinned in tests/mcp/package-lock.json, against the
# gateway as a server and as a client. They are installed on demand into CALLGATE_MCP_DIR (default build/mcp), 150 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: check_mcp.sh PATH_TO_CALLGATE" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
E2E_SOURCE=$PWD
export CALLGATE E2E_SOURCE
room=${CALLGATE_MCP_DIR:-build/mcp}
here=$PWD/tests/mcp
tools/install_packages.sh "$here" "$room"
room=$(cd "$room" && pwd)

rm -f "$room"/*.mjs
cp tests/e2e/{harness,toml}.mjs "$here"/*.mjs "$room/"
cd "$room"
exec timeout --kill-after=10 300 node_modules/.bin/node --disable-warning=ExperimentalWarning --test \
  --test-reporter=spec --test-timeout=120000 conformance.test.mjs < /dev/null
