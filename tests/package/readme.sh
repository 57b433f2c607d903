#!/usr/bin/env bash
# Runs the commands of README.md's installation, as printed, in a minimal Debian root (debootstrap, as root):
# readme.sh ROOT [configure|test]. ROOT is such a root, which is changed. `make run` must answer. With `configure` the packages of
# `make test` are installed and every preset is configured, with `test` all of `make test` runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=${1:?usage: readme.sh ROOT [configure|test]}
block=$(sed -n '/^## Install/,/^## /p' README.md | sed -n '/^```sh/,/^```/p' | sed '1d;$d')
install=$(head -1 <<< "$block")
rm -rf "$root/src" && mkdir "$root/src"
git ls-files -z | xargs -0 cp --parents -t "$root/src"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Authorities that this machine trusts beside Debian's, such as a proxy's.
mkdir -p "$root/usr/local/share/ca-certificates"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$root/usr/local/share/ca-certificates" {} +
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive bash -c "cd /src && $1"; }

mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
run=
clean_up() {
  [ -z "$run" ] || kill -- "-$run" 2> /dev/null || true
  umount "$root/proc"
}
trap clean_up EXIT
SECONDS=0
inside "$install"
echo "the first line took $SECONDS s"
SECONDS=0
setsid chroot "$root" env DEBIAN_FRONTEND=noninteractive bash -c 'cd /src && exec make run LISTEN=127.0.0.1:18433' > "$root/run.log" 2>&1 &
run=$!
until curl -sf http://127.0.0.1:18433/readyz > /dev/null; do
  kill -0 "$run" 2> /dev/null || { cat "$root/run.log"; exit 1; }
  sleep 1
done
echo "make run answers after $SECONDS s"
kill -- "-$run"
wait "$run" || true
run=
SECONDS=0
case "${2:-}" in
  configure)
    inside 'make deps-test'
    echo "make deps-test took $SECONDS s"
    inside 'for preset in dev asan tsan run release package; do
      cmake --preset $preset > /tmp/configure.log 2>&1 || { cat /tmp/configure.log; exit 1; }
    done'
    echo "every preset is configured" ;;
  test)
    inside 'make test'
    echo "make test took $SECONDS s" ;;
esac
