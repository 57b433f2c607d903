#!/usr/bin/env bash
# check_suites.sh PATH_TO_CALLGATE [SUITE...]: suites of others, rebuilt, against a real gateway on loopback; docs/security.md and
# docs/reliability.md say what they show. What they need beside the tests' packages is installed on demand.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: check_suites.sh PATH_TO_CALLGATE [SUITE...]" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
export CALLGATE
shift
here=$PWD/tests/suites
all=(json websocket http load frames postgres browser attack)
[ $# -gt 0 ] || set -- "${all[@]}"

# The programs of a suite, and the Debian packages that have them.
need() {
  local program=$1 package=$2
  PATH=$PATH:/usr/sbin command -v "$program" > /dev/null && return
  [ -e "$program" ] && return
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y --no-install-recommends "$package" > /dev/null
}

room=${E2E_DIR:-build/e2e}
node_packages() { tools/install_packages.sh "$PWD/tests/e2e" "$room"; }

# Files of Node's test runner, beside the packages of the end-to-end tests.
run_node() {
  node_packages || return 1
  cp tests/e2e/*.mjs "$here"/*.mjs "$room/"
  (cd "$room" && E2E_SOURCE=$OLDPWD timeout --kill-after=10 600 node_modules/.bin/node --disable-warning=ExperimentalWarning \
    --test --test-reporter=spec --test-timeout=240000 "$1" < /dev/null)
}

run() {
  case "$1" in
    json) node "$here/json_javascript.mjs" "$here/json_cases.txt" ;;
    websocket) python3 "$here/websocket_autobahn.py" "$CALLGATE" ;;
    http)
      need nginx nginx-light && need haproxy haproxy && need apache2 apache2-bin || return 1
      python3 "$here/http_differential.py" "$CALLGATE"
      ;;
    load)
      need h2load nghttp2-client && need slowhttptest slowhttptest && need curl curl || return 1
      "$here/load.sh" "$CALLGATE"
      ;;
    frames) run_node frames.test.mjs ;;
    postgres)
      need /usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 faketime
      run_node postgres_faults.test.mjs
      ;;
    browser)
      need chromium chromium
      node_packages && "$room/node_modules/.bin/node" --disable-warning=ExperimentalWarning "$here/browser.mjs" "$CALLGATE"
      ;;
    attack) python3 "$here/attack.py" "$CALLGATE" ;;
    *) echo "check_suites.sh: unknown suite '$1', expected ${all[*]}" >&2; return 2 ;;
  esac
}

failed=()
for suite in "$@"; do
  printf '\n== %s\n' "$suite"
  run "$suite" || failed+=("$suite")
done
echo
if [ "${#failed[@]}" -eq 0 ]; then echo "suites: passed"; else echo "suites: FAILED: ${failed[*]}"; exit 1; fi
