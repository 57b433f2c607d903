#!/usr/bin/env bash
# load.sh PATH_TO_CALLGATE: h2load over HTTP/1.1, then the four attacks of slowhttptest, each for some seconds and only against
# loopback. No request of h2load may fail, and the gateway must answer others while the slow ones hang on.
set -euo pipefail
callgate=$(realpath -- "$1")
folder=$(mktemp -d)
trap 'kill "$gateway" 2> /dev/null || true; wait "$gateway" 2> /dev/null || true; rm -rf "$folder"' EXIT
printf 'listen = "127.0.0.1:0"\n[store]\nurl = "none"\n' > "$folder/callgate.toml"
"$callgate" serve --demo --config "$folder/callgate.toml" > "$folder/out" 2> "$folder/log" &
gateway=$!
for _ in $(seq 200); do grep -q 'listening on' "$folder/out" && break; sleep 0.05; done
url=$(sed -n 's/^listening on //p' "$folder/out" | head -1)
failed=0

h2load --h1 -n 20000 -c 50 -t 1 "$url/livez" > "$folder/h2load" 2>&1
grep -q '20000 succeeded, 0 failed, 0 errored' "$folder/h2load" || { cat "$folder/h2load"; failed=1; }
echo "h2load: $(sed -n 's/^finished in //p' "$folder/h2load"), $(sed -n 's/^requests: //p' "$folder/h2load")"

# Asks for itself while the attack runs; what slowhttptest thinks of the service is asked as well.
attack() {
  local name=$1
  shift
  slowhttptest "$@" -c 300 -r 150 -l 8 -p 3 > "$folder/slow" 2>&1 &
  local slow=$! answered=0 asked=0
  while kill -0 "$slow" 2> /dev/null; do
    asked=$((asked + 1))
    curl -s -m 5 -o /dev/null -w '' "$url/livez" && answered=$((answered + 1))
    sleep 0.2
  done
  wait "$slow" || true
  echo "slowhttptest $name: $answered of $asked requests of others answered"
  [ "$asked" -gt 3 ] && [ "$answered" -eq "$asked" ] || failed=1
}
attack headers -H -i 2 -u "$url/livez"
attack body -B -i 2 -s 8192 -u "$url/v1/chat/completions"
attack range -R -u "$url/livez"
attack read -X -w 1 -y 4 -n 3 -z 1 -k 3 -u "$url/v1/models"
curl -s -m 5 -o /dev/null "$url/livez" || failed=1
kill -TERM "$gateway"
wait "$gateway" || failed=1
exit "$failed"
