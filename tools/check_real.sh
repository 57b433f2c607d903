#!/usr/bin/env bash
# check_real.sh PATH_TO_CALLGATE: real upstream programs, pinned in tests/real/package-lock.json, offline against the
# scripted model. They are installed on demand into CALLGATE_REAL_DIR (default build/real), several hundred MB. Fails when
# they cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: check_real.sh PATH_TO_CALLGATE" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
export CALLGATE
room=${CALLGATE_REAL_DIR:-build/real}
here=$PWD/tests/real
tools/install_packages.sh "$here" "$room"
room=$(cd "$room" && pwd)

rm -f "$room"/*.mjs
cp tests/e2e/{harness,toml,http,upstream,chat_contract}.mjs "$here"/*.mjs "$room/"
node=$room/node_modules/.bin/node
cd "$room"
for name in codex-app-server codex-proto; do
  version=$("$node" "node_modules/$name/bin/codex.js" --version)
  echo "real: $version as $name"
done
exec timeout --kill-after=10 600 "$node" --disable-warning=ExperimentalWarning --test --test-reporter=spec \
  --test-concurrency=1 --test-timeout=120000 *.test.mjs < /dev/null
