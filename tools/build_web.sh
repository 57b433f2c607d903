#!/usr/bin/env bash
# build_web.sh OUT: bundles the inspector of web/ and writes it to OUT, a list of C++ values. Packages are kept in build/web and
# installed again only when web/package-lock.json changes. npm is not needed. Where the packages cannot be had, OUT has a plain page
# that says how to add the inspector. CALLGATE_WEB_ROOM is another place for the packages.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: build_web.sh OUT" >&2; exit 2; }
out=$(realpath -m -- "$1")
cd "$(dirname "$0")/.."
room=${CALLGATE_WEB_ROOM:-$PWD/build/web}
mkdir -p "$room" "$(dirname "$out")"
exec 9> "$room/lock"
flock 9  # builds of several presets share the packages

plain() {
  echo "build_web.sh: $1: the inspector is left out, a plain page takes its place" >&2
  python3 tools/pack_web.py "$out" --plain /=web/plain.html
  exit 0
}

tools/install_packages.sh web "$room" > "$room/install.log" 2>&1 || plain "its packages could not be fetched, see $room/install.log"
bundler=$(find "$room/node_modules/@esbuild" -path '*/bin/esbuild' -type f | head -1)
[ -n "$bundler" ] || plain "there is no esbuild for this machine"

rm -rf "$room/out"
NODE_PATH=$room/node_modules "$bundler" web/src/main.tsx --bundle --minify --charset=utf8 --target=es2022 --format=esm \
  --jsx=automatic --jsx-import-source=preact --legal-comments=none --log-level=warning --outfile="$room/out/app.js"
NODE_PATH=$room/node_modules "$bundler" web/style/main.css --bundle --minify --log-level=warning --outfile="$room/out/app.css"
python3 tools/pack_web.py "$out" /=web/index.html /inspector/app.js="$room/out/app.js" \
  /inspector/app.css="$room/out/app.css" /inspector/icon.svg=web/icon.svg
