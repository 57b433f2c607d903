#!/usr/bin/env bash
# run_tests.sh all|dev|e2e|asan|tsan|fuzz: builds and runs one part of the tests, or all of them, and ends with the totals.
# `all` runs every test once: unit tests, goldens, properties and end to end with sanitizers, then threads, then fuzzers.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
fuzz_seconds=${FUZZ_SECONDS:-6}
e2e_preset=dev
mkdir -p build
passed=0
failed=0

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" > "build/$preset.configure.log" 2>&1 || { cat "build/$preset.configure.log"; return 1; }
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

# Runs ctest and adds its closing line to the totals.
run_ctest() {
  local preset=$1; shift
  local log="build/$preset.ctest.log" status=0
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure "$@" > "$log" 2>&1 || status=$?
  grep -vE '^ *[0-9]+/[0-9]+ Test .*Passed|^ +Start ' "$log" || true
  local total bad
  total=$(sed -nE 's/.*tests failed out of ([0-9]+).*/\1/p' "$log" | tail -1)
  bad=$(sed -nE 's/.*, ([0-9]+) tests failed out of.*/\1/p' "$log" | tail -1)
  total=${total:-0}; bad=${bad:-0}
  [ "$total" -gt 0 ] || { echo "$preset: no test ran"; bad=1; total=1; }
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  passed=$((passed + total - bad)); failed=$((failed + bad))
}

part_dev() { say "dev: build and test"; build dev; run_ctest dev; }
part_asan() { say "asan: build and test"; build asan; run_ctest asan; }
part_tsan() {
  say "tsan: rooms with threads"
  build tsan callgate_net_test callgate_tool_test callgate_store_test callgate_telemetry_test \
    callgate_access_test callgate_dial_test callgate_mock_test callgate_recorder_test callgate_server_test
  run_ctest tsan -R '^(net|tool|store|telemetry|access|dial|mock|recorder|server)/'
}
part_e2e() {
  say "e2e: real SDK clients"
  [ -x "build/$e2e_preset/callgate" ] || build "$e2e_preset"
  local status=0 log=build/e2e.log
  tests/e2e/run.sh "build/$e2e_preset/callgate" > "$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] && grep -E '^[^ ]+ (tests|pass|fail) ' "$log" || cat "$log"
  local ok bad
  ok=$(sed -nE 's/^[^ ]+ pass ([0-9]+)$/\1/p' "$log" | tail -1)
  bad=$(sed -nE 's/^[^ ]+ fail ([0-9]+)$/\1/p' "$log" | tail -1)
  ok=${ok:-0}; bad=${bad:-0}
  { [ "$status" -eq 0 ] && [ "$ok" -gt 0 ]; } || [ "$bad" -gt 0 ] || bad=1
  passed=$((passed + ok)); failed=$((failed + bad))
}
part_fuzz() {
  say "fuzz: every target for $fuzz_seconds s"
  local status=0 log=build/fuzz.log
  tools/run_fuzzers.sh "$fuzz_seconds" 2>&1 | tee "$log" || status=$?
  local targets
  targets=$(grep -c '^fuzz: .* ok' "$log" || true)
  passed=$((passed + targets))
  if [ "$status" -ne 0 ] || [ "$targets" -eq 0 ]; then failed=$((failed + 1)); fi
}

case "${1:-all}" in
  all) e2e_preset=asan; for part in asan e2e tsan fuzz; do "part_$part"; done ;;
  dev | e2e | asan | tsan | fuzz) "part_$1" ;;
  *) echo "run_tests.sh: unknown part '$1', expected all, dev, e2e, asan, tsan or fuzz" >&2; exit 2 ;;
esac
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
