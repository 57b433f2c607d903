#!/usr/bin/env bash
# Installs missing Debian packages: install_deps.sh build [test] [package]. Quiet and fast when nothing is missing.
set -euo pipefail

build=(g++ cmake ninja-build ccache python3 pkg-config
  libssl-dev zlib1g-dev node-llhttp libtomlplusplus-dev libcli11-dev
  libexpected-dev libsqlite3-dev libpq-dev libzstd-dev libbrotli-dev libicu-dev libvalijson-dev ca-certificates)
tests=(clang lld libclang-rt-14-dev llvm libgtest-dev libgmock-dev libbenchmark-dev nginx-light nodejs npm openssl curl
  postgresql valgrind chromium)
package=(dpkg-dev nodejs npm git debootstrap lintian buildah)

wanted=()
for group in "$@"; do
  case "$group" in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${tests[@]}") ;;
    package) wanted+=("${package[@]}") ;;
    *) echo "install_deps.sh: unknown group '$group', expected build, test or package" >&2; exit 2 ;;
  esac
done

# A tool that is there without its package (a Node.js of one's own, say) counts as installed.
provided_by() {
  case "$1" in
    g++ | cmake | clang | npm | curl | openssl | python3 | ccache) echo "$1" ;;
    nodejs) echo node ;;
    ninja-build) echo ninja ;;
    lld) echo ld.lld ;;
    llvm) echo llvm-symbolizer ;;
    nginx-light) echo nginx ;;
    *) echo "" ;;
  esac
}

missing=()
for package in "${wanted[@]}"; do
  command=$(provided_by "$package")
  if [ -n "$command" ] && PATH="$PATH:/usr/sbin" command -v "$command" > /dev/null; then continue; fi
  if dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed; then continue; fi
  missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

line="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  as_root=(sudo)
else
  echo "callgate needs packages that are not installed. Run this as root, then try again:" >&2
  echo "  apt-get update && $line" >&2
  exit 1
fi
command -v apt-get > /dev/null || {
  echo "callgate's make targets install packages with apt-get (Debian 12). Install by hand: ${missing[*]}" >&2
  exit 1
}
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $line > /tmp/callgate-apt.$$.log 2>&1 || {
  cat /tmp/callgate-apt.$$.log >&2
  exit 1
}
rm -f /tmp/callgate-apt.$$.log
