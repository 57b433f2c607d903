#!/usr/bin/env bash
# run_soak.sh PATH_TO_CALLGATE MINUTES: mixed work on three gateways, one PostgreSQL and nginx while nodes, database and upstream
# are killed, stopped and stalled; tests/soak/soak.test.mjs says what is checked. Parameters come from the environment:
# SOAK_IDLE connections without a word (1000), SOAK_STREAMS streams at a time (100), SOAK_WORKERS of each kind (4), SEED. For the
# large form, SOAK_IDLE=10000 SOAK_STREAMS=5000, allow that many descriptors (ulimit -n 65536) and give it eight cores.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: run_soak.sh PATH_TO_CALLGATE MINUTES" >&2; exit 2; }
CALLGATE=$(realpath -- "$1")
E2E_SOURCE=$PWD
SOAK_SECONDS=$(($2 * 60))
for name in SOAK_IDLE SOAK_STREAMS SOAK_WORKERS; do [ -n "${!name:-}" ] || unset "$name"; done
export CALLGATE E2E_SOURCE SOAK_SECONDS
ulimit -n "$(ulimit -Hn)"
room=${E2E_DIR:-build/e2e}
tools/install_packages.sh "$PWD/tests/e2e" "$room"
cp tests/e2e/*.mjs tests/soak/*.mjs "$room/"
cd "$room"
limit=$((SOAK_SECONDS + 300))
exec timeout --kill-after=30 "$limit" node_modules/.bin/node --disable-warning=ExperimentalWarning --test --test-reporter=spec \
  --test-timeout=$((limit * 1000)) soak.test.mjs < /dev/null
