#!/usr/bin/env bash
# run.sh PATH_TO_CALLGATE [FILE...]: the inspector in Chromium, against a real gateway. Without files all tests run. Packages are
# kept in build/web-tests and installed again only when package-lock.json changes. CHROMIUM names another browser.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh PATH_TO_CALLGATE [FILE...]" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
shift
[ -x "$CALLGATE" ] || { echo "run.sh: $CALLGATE is not a program" >&2; exit 2; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || { echo "run.sh: chromium is missing, tools/install_deps.sh test installs it" >&2; exit 2; }
export CALLGATE CHROMIUM
WEB_SOURCE=$(cd "$here/../.." && pwd)  # the repository
export WEB_SOURCE
room=$WEB_SOURCE/build/web-tests
"$WEB_SOURCE/tools/install_packages.sh" "$here" "$room"

# Node finds packages beside the files that import them.
rm -f "$room"/*.mjs
cp "$WEB_SOURCE"/tests/e2e/{harness,toml}.mjs "$here"/*.mjs "$room/"
cd "$room"
echo "web: node $(node --version), $("$CHROMIUM" --version 2> /dev/null)"
if [ "${1:-}" = screenshots.mjs ]; then exec node "$@"; fi
if [ $# -eq 0 ]; then set -- *.test.mjs; fi
# A process group of its own: whatever a test leaves behind ends with it.
set -m
timeout --kill-after=10 "${WEB_TIMEOUT:-600}" node --test --test-reporter=spec --test-concurrency=1 --test-timeout=120000 "$@" < /dev/null &
group=$!
set +m
trap 'kill -KILL -- "-$group" 2> /dev/null || true' EXIT
trap 'exit 130' INT TERM
status=0
wait "$group" || status=$?
exit "$status"
