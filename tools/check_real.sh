#!/usr/bin/env bash
# check_real.sh PATH_TO_CALLGATE [FILE...]: real programs before and after the gateway (codex, claude, opencode, qwen-code,
# cline), pinned in tests/real/package-lock.json, offline against the scripted model. They are installed on demand into
# CALLGATE_REAL_DIR (default build/real), 1.6 GB. Fails when they cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: check_real.sh PATH_TO_CALLGATE [FILE...]" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
shift
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
for folder in node_modules/@anthropic-ai/claude-code-linux-* node_modules/opencode-linux-* node_modules/@qwen-code/qwen-code \
  node_modules/@cline/cli-linux-*; do
  echo "real: $("$node" -p "const { name, version } = require('./$folder/package.json'); name + ' ' + version")"
done
if [ $# -eq 0 ]; then set -- *.test.mjs; fi
exec timeout --kill-after=10 3600 "$node" --disable-warning=ExperimentalWarning --test --test-reporter=spec \
  --test-concurrency=1 --test-timeout=3000000 "$@" < /dev/null
