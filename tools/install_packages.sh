#!/usr/bin/env bash
# install_packages.sh FROM TO: the npm packages of FROM/package-lock.json into the folder TO, and again only when that file
# changes. No package needs its install script; Node itself comes as a plain package, too. Without npm, they are fetched from its registry.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: install_packages.sh FROM TO" >&2; exit 2; }
from=$1
to=$2
mkdir -p "$to"
wanted=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum | cut -d' ' -f1)
if [ -f "$to/installed" ] && [ "$(cat "$to/installed")" = "$wanted" ]; then exit 0; fi
echo "installing the packages of $from/package-lock.json into $to"
rm -rf "$to/installed" "$to/node_modules"
cp "$from/package.json" "$from/package-lock.json" "$to/"
if ! command -v npm > /dev/null; then
  "$(dirname "$0")/fetch_npm.py" "$from" "$to"
  echo "$wanted" > "$to/installed"
  exit 0
fi
# `npm ci` wants every optional package of other platforms as well, and registries may lack some: `npm install` takes the versions
# of the lock file and passes over those.
for try in ci ci 'install --no-save'; do
  # shellcheck disable=SC2086
  if timeout 1200 npm $try --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error; then
    echo "$wanted" > "$to/installed"
    exit 0
  fi
  echo "npm $try failed" >&2
  sleep 2
done
exit 1
