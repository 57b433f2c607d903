#!/usr/bin/env python3
"""Tests what tools/package/run.py made: check.py [NAME...], by default everything that this machine can run.

  portable   the binary needs glibc alone, of a version that is old enough
  lintian    the Debian packages have no errors
  same       packaging again gives the same bytes
  root       in a minimal Debian root (debootstrap, as root): install, serve with the unit's command line, curl, purge; the archive
             as well
  image      the last stage of contrib/'s Containerfile, built by buildah from that root: serves as its user, is healthy, then is not
  npm        `npx callgate serve --demo` from the packed files with the network off
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/package"))
from common import BUILD, OUT, VERSION, run  # noqa: E402
from sbom import GLIBC_FLOOR  # noqa: E402

WORK = BUILD / "check"
OF_GLIBC = {"libc.so.6", "libm.so.6", "libresolv.so.2", "ld-linux-x86-64.so.2"}
ASK = '{"model": "%s", "messages": [{"role": "user", "content": "Hello"}]}'


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def unpack_portable():
    folder = WORK / f"callgate-{VERSION}-linux-x64"
    if not folder.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        run("tar", "-xzf", OUT / f"{folder.name}.tar.gz", "-C", WORK)
    return folder


def check_portable():
    binary = unpack_portable() / "callgate"
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", binary)))
    expect(needed <= OF_GLIBC, f"only glibc is needed: {sorted(needed - OF_GLIBC)}")
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", run("objdump", "-T", binary))}
    floor = tuple(map(int, GLIBC_FLOOR.split(".")))
    expect(max(versions) <= floor, f"glibc {'.'.join(map(str, max(versions)))} is needed, at most {GLIBC_FLOOR} is promised")
    expect("GLIBCXX" not in run("objdump", "-T", binary), "libstdc++ is inside")
    said = run(binary, "version")
    expect(said.startswith(f"callgate {VERSION}\ncommit ") and "unknown" not in said, said)
    return f"glibc {'.'.join(map(str, max(versions)))} and {', '.join(sorted(needed))}; {binary.stat().st_size >> 10} KiB"


def check_lintian():
    if not shutil.which("lintian"):
        return None
    debs = sorted(OUT.glob("*.deb"))
    done = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", *map(str, debs)], capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    errors = [line for line in lines if line.startswith("E:")]
    expect(not errors, "\n".join(lines))
    return f"{len(debs)} packages, 0 errors, {sum(line.startswith('W:') for line in lines)} warnings"


def check_same():
    def sums():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in OUT.iterdir()}
    before = sums()
    for name in ("callgate", "portable/callgate"):  # linked again as well
        (BUILD / name).unlink()
    run("cmake", "--build", "--preset", "package", cwd=ROOT)
    run(sys.executable, ROOT / "tools/package/run.py", "--no-build")
    after = sums()
    expect(before == after, f"different: {sorted(name for name in before if before[name] != after.get(name))}")
    return f"{len(after)} files"


class Gateway:
    """A gateway that runs as long as the `with` block; leaving it stops it as systemd would."""

    def __init__(self, command, port, in_order=True, **options):
        """in_order: it ends as serve does; buildah kills what it runs."""
        self.command, self.options, self.in_order, self.url = command, options, in_order, f"http://127.0.0.1:{port}"

    def __enter__(self):
        self.log = open(WORK / "gateway.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([str(part) for part in self.command], stdout=self.log, stderr=subprocess.STDOUT,
                                        start_new_session=True, **self.options)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=5).read()
                return self
            except OSError:
                expect(self.process.poll() is None, f"the gateway runs: {(WORK / 'gateway.log').read_text()}")
                time.sleep(0.1)
        sys.exit(f"the gateway did not start: {(WORK / 'gateway.log').read_text()}")

    def ask(self, model):
        request = urllib.request.Request(self.url + "/v1/chat/completions", (ASK % model).encode(), {"content-type": "application/json"})
        return urllib.request.urlopen(request, timeout=30).read().decode()

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGTERM)
        expect(self.process.wait(60) == 0 or not self.in_order, f"it stops in order: {(WORK / 'gateway.log').read_text()}")
        self.log.close()


def make_base():
    """A minimal Debian 12, made once."""
    base = BUILD / "debian-root"
    if not (base / "etc/debian_version").exists():
        run("debootstrap", "--variant=minbase", "bookworm", base, "http://deb.debian.org/debian")
    return base


def make_root():
    """A copy of it that may be changed."""
    base, root = make_base(), WORK / "root"
    subprocess.run(["rm", "-rf", str(root)], check=True)
    run("cp", "-a", base, root)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    return root


def in_root(root, *command):
    """The command line that runs a command in the root, with a /proc of its own that goes away with it."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', root, *command]


def check_root():
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        return None
    root = make_root()

    def inside(*command):
        return run(*in_root(root, "env", "DEBIAN_FRONTEND=noninteractive", *command))
    shutil.copytree(unpack_portable(), root / "opt/callgate")
    with Gateway(in_root(root, "/opt/callgate/callgate", "serve", "--demo", "--listen", "127.0.0.1:18431", "--set", "store.url=none"),
                 18431) as gateway:
        expect('"finish_reason":"stop"' in gateway.ask("demo-text"), "the archive's binary answers")

    for deb in OUT.glob("callgate_*.deb"):
        shutil.copy(deb, root)
    inside("apt-get", "install", "-y", "--no-install-recommends", f"/callgate_{VERSION}_amd64.deb")
    unit = (root / "lib/systemd/system/callgate.service").read_text(encoding="utf-8")
    command = re.search(r"^ExecStart=(.*)$", unit, re.M).group(1).split()
    user = re.search(r"^User=(.*)$", unit, re.M).group(1)
    with Gateway(in_root(root, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", *command),
                 8080) as gateway:
        expect('"finish_reason":"stop"' in gateway.ask("demo-text"), "the package's gateway answers")
    state = root / "var/lib/callgate"
    expect((state / "callgate.db").stat().st_mode & 0o77 == 0, "the data is where it should be, for the service alone")
    expect("demo-text" in inside("callgate", "config", "check", "/etc/callgate/callgate.toml"), "the configuration is valid")

    config = root / "etc/callgate/callgate.toml"
    config.write_text(config.read_text() + "# mine\n")
    inside("apt-get", "remove", "-y", "callgate")
    expect(config.exists() and (state / "callgate.db").exists(), "a removal keeps configuration and data")
    inside("apt-get", "purge", "-y", "callgate")
    left = [path for path in ("etc/callgate", "var/lib/callgate", "usr/bin/callgate") if (root / path).exists()]
    expect(not left and "callgate:" not in (root / "etc/passwd").read_text(), f"a purge leaves nothing: {left}")
    return "archive and package answer; remove keeps data, purge leaves nothing"


def make_image(buildah):
    """The image as the Containerfile makes it, except that its first stage is the package that is there already."""
    container = run(*buildah, "from", "scratch")
    run("tar", "-C", make_base(), "-cf", WORK / "base.tar", ".")
    run(*buildah, "add", container, WORK / "base.tar", "/")
    run(*buildah, "commit", "--rm", "-q", container, "docker.io/library/debian:12-slim")
    stage = WORK / "stage"
    (stage / "src/build/package/out").mkdir(parents=True)
    for deb in OUT.glob("callgate_*.deb"):
        shutil.copy(deb, stage / "src/build/package/out")
    run(*buildah, "bud", "--format", "docker", "--isolation", "chroot", "--pull-never", "--build-context", f"build={stage}", "-f",
        ROOT / "contrib/container/Containerfile", "-t", "callgate", ROOT)
    return run(*buildah, "from", "--pull-never", "callgate")


def check_image():
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not shutil.which("buildah"):
        return None
    buildah = ["buildah", "--root", WORK / "images", "--runroot", WORK / "images-run", "--storage-driver", "vfs"]
    container = make_image(buildah)
    made = json.loads(run(*buildah, "inspect", "--type", "image", "callgate"))["Docker"]["config"]
    expect(made["User"] == "callgate" and made["StopSignal"] == "SIGTERM", f"user and signal: {made}")
    inside = [*buildah, "run", "--isolation", "chroot", container, "--"]
    health = made["Healthcheck"]["Test"][1:]
    set_up = {"CALLGATE_KEY": "sk-image-0123456789", "CALLGATE_STORE": "sqlite:/var/lib/callgate/callgate.db",
              "CALLGATE_UPSTREAM": "http://127.0.0.1:9/v1", "CALLGATE_MODEL": "m"}
    environment = [part for name, value in set_up.items() for part in ("--env", f"{name}={value}")]
    serve = [*buildah, "run", "--isolation", "chroot", *environment, container, "--", *made["Entrypoint"], *made["Cmd"]]
    with Gateway(serve, 8080, in_order=False):
        run(*inside, *health)
        owner = run(*inside, "stat", "-c", "%U %a", "/var/lib/callgate/callgate.db")
        expect(owner == "callgate 600", f"the store is the user's alone: {owner}")
    dead = subprocess.run([str(part) for part in (*inside, *health)], capture_output=True, check=False)
    expect(dead.returncode != 0, "the health check notices that nothing answers")
    return "built, serves as its user, healthy; unhealthy once it is gone"


def check_npm():
    if not shutil.which("npm"):
        return None
    folder = WORK / "npm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    packages = sorted(OUT.glob("*.tgz"))
    expect(len(packages) == 2, f"two packages: {packages}")
    alone = ["unshare", "-n", "--"] if os.geteuid() == 0 else []  # no network but what the namespace has: none
    environment = dict(os.environ, npm_config_cache=str(folder / "cache"), npm_config_offline="true", npm_config_update_notifier="false")
    run(*alone, "npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", *packages, cwd=folder, env=environment)
    script = ("ip link set lo up 2> /dev/null; npx callgate serve --demo --listen 127.0.0.1:18432 > gateway.log 2>&1 & "
              "for i in $(seq 300); do curl -sf http://127.0.0.1:18432/readyz > /dev/null && break; sleep 0.1; done; "
              f"curl -s http://127.0.0.1:18432/v1/chat/completions -H 'content-type: application/json' -d '{ASK % 'demo-text'}'; "
              "kill $!; wait $!; echo \" ended $?\"; cat gateway.log")
    said = run(*alone, "bash", "-c", script, cwd=folder, env=environment)
    expect('"finish_reason":"stop"' in said, said)
    return "installed offline without scripts, answers"


def main():
    names = sys.argv[1:] or ["portable", "lintian", "npm", "root", "image", "same"]
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name in names:
        started = time.monotonic()
        done = globals()[f"check_{name}"]()
        print(f"{name}: {done or 'skipped, this machine lacks what it needs'} ({time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
