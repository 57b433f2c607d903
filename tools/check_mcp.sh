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
mkdir -p "$room"
room=$(cd "$room" && pwd)
here=$PWD/tests/mcp

wanted=$(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -d' ' -f1)
if [ ! -f "$room/installed" ] || [ "$(cat "$room/installed")" != "$wanted" ]; then
  echo "mcp: installing the packages of tests/mcp/package-lock.json into $room"
  rm -rf "$room/installed" "$room/node_modules"
  cp "$here/package.json" "$here/package-lock.json" "$room/"
  timeout 600 npm ci --prefix "$room" --ignore-scripts --no-audit --no-fund --loglevel=error \
    || { echo "mcp: npm ci failed" >&2; exit 1; }
  echo "$wanted" > "$room/installed"
fi

rm -f "$room"/*.mjs
cp tests/e2e/{harness,toml}.mjs "$here"/*.mjs "$room/"
cd "$room"
exec timeout --kill-after=10 300 node_modules/.bin/node --disable-warning=ExperimentalWarning --test \
  --test-reporter=spec --test-timeout=120000 conformance.test.mjs < /dev/null
