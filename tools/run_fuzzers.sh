#!/usr/bin/env bash
# run_fuzzers.sh SECONDS [each|all]: builds every fuzz target, runs its regressions, then fuzzes each of them for SECONDS,
# or shares SECONDS of wall time out among them all.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
jobs=${JOBS:-$(nproc)}
mkdir -p build
cmake --preset asan > build/asan.configure.log 2>&1 || { cat build/asan.configure.log; exit 1; }
cmake --build --preset asan -j "$jobs" --target fuzzers

fuzz_one() {
  local target=$1 name work
  name=$(basename "$target")
  work=build/asan/fuzz/work/$name
  mkdir -p "$work" "fuzz/regressions/$name"
  if compgen -G "fuzz/regressions/$name/*" > /dev/null; then
    "$target" -runs=0 "fuzz/regressions/$name" > "$work.log" 2>&1 || { echo "fuzz: $name FAILED on a regression"; tail -30 "$work.log"; return 1; }
  fi
  local seeds=()
  case "$name" in
    anthropic_messages_fuzz) seeds=(golden/wire/anthropic_messages) ;;
    dialect_fuzz) seeds=(golden/dialect) ;;
    codex_fuzz) seeds=(golden/wire/codex_app_server golden/wire/codex_proto) ;;
    gemini_fuzz) seeds=(golden/wire/gemini) ;;
    ollama_fuzz) seeds=(golden/wire/ollama) ;;
    openai_chat_fuzz | sse_fuzz) seeds=(golden/wire/openai_chat) ;;
    openai_responses_fuzz) seeds=(golden/wire/openai_responses) ;;
    capture_fuzz) seeds=(fuzz/regressions/capture_fuzz) ;;
    loop_fuzz) seeds=(golden/loop) ;;
    qwen_web_fuzz) seeds=(golden/wire/qwen_web) ;;
    mcp_fuzz | argument_schema_fuzz | room_input_fuzz | room_relay_fuzz | inspector_fuzz | own_dialect_fuzz | search_reply_fuzz) seeds=("fuzz/regressions/$name") ;;
  esac
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$work/crash-" "$work" "${seeds[@]}" > "$work.log" 2>&1 || { echo "fuzz: $name FAILED"; tail -40 "$work.log"; return 1; }
  echo "fuzz: $name ok, $(sed -nE 's/^stat::number_of_executed_units: +//p' "$work.log") executions"
}
export -f fuzz_one
export seconds
targets=$(find build/asan/fuzz -maxdepth 1 -type f -name '*_fuzz' -perm -u+x | sort)
[ -n "$targets" ] || { echo "fuzz: no targets"; exit 1; }
if [ "${2:-each}" = all ]; then
  count=$(wc -l <<< "$targets")
  rounds=$(((count + jobs - 1) / jobs))
  seconds=$((seconds / rounds))
  echo "fuzz: $count targets, $jobs at a time, $seconds s each"
fi
echo "$targets" | xargs -P "$jobs" -I{} bash -c 'fuzz_one {}'
