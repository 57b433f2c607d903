#!/usr/bin/env bash
# check_suites.sh PATH_TO_CALLGATE [SUITE...]: every file of tests/suites/ is a suite: a program that gets the path of callgate and ends with
# 0 when it holds, or 77 when something that it needs is missing. Without names all of them run; none stops the others.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: check_suites.sh PATH_TO_CALLGATE [SUITE...]" >&2; exit 2; }
callgate=$(realpath -- "$1")
shift
[ -x "$callgate" ] || { echo "check_suites.sh: $callgate is not a program" >&2; exit 2; }
room=${E2E_DIR:-build/e2e}
tools/install_packages.sh tests/e2e "$room" || exit 1
node=$(realpath "$room/node_modules/.bin/node")

suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
  for file in tests/suites/*; do suites+=("$(basename "${file%.*}")"); done
fi
failed=()
skipped=()
for suite in "${suites[@]}"; do
  file=$(ls "tests/suites/$suite".{sh,py,mjs} 2> /dev/null | head -1)
  [ -n "$file" ] || { echo "check_suites.sh: there is no tests/suites/$suite.{sh,py,mjs}" >&2; exit 2; }
  echo "== $suite"
  case "$file" in
    *.sh) run=(bash) ;;
    *.py) run=(python3) ;;
    *.mjs) run=("$node" --disable-warning=ExperimentalWarning) ;;
  esac
  status=0
  timeout --kill-after=10 "${SUITE_TIMEOUT:-1800}" "${run[@]}" "$file" "$callgate" < /dev/null || status=$?
  [ "$status" -eq 77 ] && skipped+=("$suite")
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || failed+=("$suite")
done
[ ${#skipped[@]} -eq 0 ] || echo "skipped: ${skipped[*]}"
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
echo "every suite that ran held"
