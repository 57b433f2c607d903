#!/usr/bin/env bash
# The types of web/: esbuild only drops them. run.sh installs the compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
room=$PWD/build/web-tests
tools/install_packages.sh tests/web "$room"
rm -rf "$room/types"
mkdir -p "$room/types"
cp -r web/src web/tsconfig.json "$room/types/"
node "$room/node_modules/typescript/bin/tsc" -p "$room/types"
echo "types: ok"
