#!/usr/bin/env bash
# run_soak_tests.sh: the long forms of the crash, restart and cluster tests, a million requests in the log, and 100,000 requests and
# 10,000 tool loops whose memory must stay flat. About half an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
build() {
  mkdir -p build
  cmake --preset "$1" > "build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; exit 1; }
  cmake --build --preset "$1" -j "$jobs" ${2:+--target $2}
}
say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

export CALLGATE_SOAK=1
failed=0
say "build"
build dev "callgate_store_test callgate_dial_test callgate_session_test callgate_bin"
build release
say "store: kill -9 at 200 points, restarts, damage, a full disk, a million requests"
build/dev/callgate_store_test --gtest_brief=1 || failed=1
say "conversations over two gateways"
for module in dial session; do
  build/dev/callgate_${module}_test --gtest_filter="*onversations*" --gtest_brief=1 || failed=1
done
say "three gateways behind nginx"
E2E_SOAK=1 E2E_TIMEOUT=1800 E2E_TEST_TIMEOUT=900000 tests/e2e/run.sh build/dev/callgate cluster.test.mjs || failed=1
say "50 rooms over three gateways, an owner killed every 10 s"
E2E_SOAK=1 E2E_TIMEOUT=1800 E2E_TEST_TIMEOUT=900000 tests/e2e/run.sh build/dev/callgate rooms_cluster.test.mjs || failed=1
say "a thousand tool loops at once"
E2E_SOAK=1 tests/e2e/run.sh build/release/callgate loop_limits.test.mjs || failed=1
say "100,000 requests"
bench/store/soak.py || failed=1
echo
if [ "$failed" -eq 0 ]; then echo "soak: passed"; else echo "soak: FAILED"; exit 1; fi
