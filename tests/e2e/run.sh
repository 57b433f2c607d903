#!/usr/bin/env bash
# run.sh PATH_TO_CALLGATE [FILE...]: real SDK clients and raw requests against the gateway, with `callgate mock` behind it.
# Packages are kept in build/e2e and installed again only when package-lock.json changes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh PATH_TO_CALLGATE [FILE...]" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
shift
[ -x "$CALLGATE" ] || { echo "run.sh: $CALLGATE is not a program" >&2; exit 2; }
export CALLGATE
E2E_SOURCE=$(cd "$here/../.." && pwd)  # the repository
export E2E_SOURCE
room=${E2E_DIR:-$here/../../build/e2e}
"$E2E_SOURCE/tools/install_packages.sh" "$here" "$room"
room=$(cd "$room" && pwd)

# Node finds packages beside the files that import them.
rm -f "$room"/*.mjs
cp "$here"/*.mjs "$room/"
node=$room/node_modules/.bin/node
echo "e2e: node $("$node" --version), $("$CALLGATE" --version | head -1)"

cd "$room"
if [ $# -eq 0 ]; then set -- *.test.mjs; fi
# A process group of its own: whatever a test leaves behind ends with it.
set -m
timeout --kill-after=10 "${E2E_TIMEOUT:-900}" "$node" --disable-warning=ExperimentalWarning --test \
  --test-reporter=spec --test-concurrency="${E2E_JOBS:-4}" --test-timeout="${E2E_TEST_TIMEOUT:-120000}" "$@" < /dev/null &
group=$!
set +m
trap 'kill -KILL -- "-$group" 2> /dev/null || true' EXIT
trap 'exit 130' INT TERM
status=0
wait "$group" || status=$?
[ "$status" -ne 124 ] || echo "run.sh: out of time" >&2
exit "$status"
