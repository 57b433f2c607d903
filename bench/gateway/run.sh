#!/usr/bin/env bash
# The table of docs/performance.md. Needs a release build with -DCALLGATE_BENCH=ON (make bench does it).
set -euo pipefail
exec python3 "$(dirname "$0")/run.py" "$@"
