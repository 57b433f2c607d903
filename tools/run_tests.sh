#!/usr/bin/env bash
# run_tests.sh all|dev|e2e|web|asan|tsan|fuzz|growth|cost: builds and runs one part of the tests, or all of them, and ends with the totals.
# `all` runs every test once: unit tests, goldens, properties and fuzzers with the address sanitizer, end to end with the same
# build, then the tests with threads.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
fuzz_seconds=${FUZZ_SECONDS:-6}
e2e_preset=dev
threaded=(net tool store telemetry access dial recorder turn room response admin inspector gateway mock)  # the modules whose tests run under the thread sanitizer
mkdir -p build
passed=0
failed=0
trap 'jobs -p | xargs -r kill 2> /dev/null || true' EXIT  # what still runs beside us

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" > "build/$preset.configure.log" 2>&1 || { cat "build/$preset.configure.log"; return 1; }
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

# add PASSED FAILED
add() { passed=$((passed + $1)); failed=$((failed + $2)); }

# Runs ctest and adds each test's result to the totals.
run_ctest() {
  local preset=$1; shift
  local log="build/$preset.ctest.log" status=0 counts
  rm -rf "build/$preset/results"
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure "$@" > "$log" 2>&1 || status=$?
  grep -vE '^ *[0-9]+/[0-9]+ Test .*Passed|^ +Start ' "$log" || true
  counts=$(tools/count_tests.py "build/$preset" "$log")
  [ "$counts" != "0 0" ] || { echo "$preset: no test ran"; counts="0 1"; }
  [ "$status" -eq 0 ] || [ "${counts#* }" -gt 0 ] || counts="${counts% *} 1"
  # shellcheck disable=SC2086
  add $counts
}

part_dev() { say "dev: build and test"; build dev; run_ctest dev; }
part_asan() { say "asan: build and test"; build asan; run_ctest asan; }
build_tsan() {
  local programs=("${threaded[@]/#/callgate_}")
  build tsan "${programs[@]/%/_test}"
}
test_tsan() { run_ctest tsan -R "^($(IFS='|'; echo "${threaded[*]}"))/"; }
part_tsan() { say "tsan: modules with threads"; build_tsan; test_tsan; }
run_e2e() { tests/e2e/run.sh "build/$e2e_preset/callgate" > build/e2e.log 2>&1; }
# report_e2e STATUS [LOG]
report_e2e() {
  local status=$1 log=${2:-build/e2e.log} ok bad
  [ "$status" -eq 0 ] && grep -E '^[^ ]+ (tests|pass|fail) ' "$log" || cat "$log"
  ok=$(sed -nE 's/^[^ ]+ pass ([0-9]+)$/\1/p' "$log" | tail -1)
  bad=$(sed -nE 's/^[^ ]+ fail ([0-9]+)$/\1/p' "$log" | tail -1)
  ok=${ok:-0}; bad=${bad:-0}
  { [ "$status" -eq 0 ] && [ "$ok" -gt 0 ]; } || [ "$bad" -gt 0 ] || bad=1
  add "$ok" "$bad"
}
part_e2e() {
  say "e2e: real SDK clients"
  [ -x "build/$e2e_preset/callgate" ] || build "$e2e_preset" callgate_bin
  local status=0
  run_e2e || status=$?
  report_e2e "$status"
}
# run_web [TEST...]: all of them if none is named.
run_web() { tests/web/run.sh "build/$e2e_preset/callgate" "$@" > build/web.log 2>&1; }
part_web() {
  say "web: the inspector in Chromium"
  [ -x "build/$e2e_preset/callgate" ] || build "$e2e_preset" callgate_bin
  local status=0
  tests/web/check_types.sh || status=1
  add $((1 - status)) $status
  status=0
  run_web || status=$?
  report_e2e "$status" build/web.log
}
part_fuzz() {
  say "fuzz: every target for $fuzz_seconds s"
  local status=0 log=build/fuzz.log targets
  tools/run_fuzzers.sh "$fuzz_seconds" 2>&1 | tee "$log" || status=$?
  targets=$(grep -c '^fuzz: .* ok' "$log" || true)
  add "$targets" 0
  if [ "$status" -ne 0 ] || [ "$targets" -eq 0 ]; then add 0 1; fi
}

part_growth() {
  say "growth: instructions for n and for 4n"
  local status=0
  build dev callgate_growth
  tests/growth/check.py build/dev/tests/callgate_growth || status=1
  add $((1 - status)) $status
}

# Of the optimised build only the library is needed; after `make build` it is there.
part_cost() {
  say "cost: instructions and allocations of a turn"
  local status=0
  build run callgate_cost
  tests/cost/check.py build/run/tests/cost/callgate_cost || status=1
  add $((1 - status)) $status
}

# The installation of Node's packages waits more than it computes: it runs beside a compiler. Nothing runs beside the tests.
part_all() {
  local status=0 other
  e2e_preset=asan
  tools/install_packages.sh tests/e2e build/e2e > build/e2e.install.log 2>&1 &
  other=$!
  part_asan
  wait "$other" || { cat build/e2e.install.log; add 0 1; }
  part_fuzz
  part_e2e
  say "web: the inspector in Chromium"
  status=0
  run_web core.test.mjs || status=$?
  report_e2e "$status" build/web.log
  part_tsan
  part_cost
}

case "${1:-all}" in
  all | dev | e2e | web | asan | tsan | fuzz | growth | cost) "part_${1:-all}" ;;
  *) echo "run_tests.sh: unknown part '$1', expected all, dev, e2e, web, asan, tsan, fuzz, growth or cost" >&2; exit 2 ;;
esac
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
