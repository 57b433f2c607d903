#!/usr/bin/env python3
"""Builds what is released into build/package/out: run.py [--no-build].

Debian packages, a portable archive, npm packages, an SBOM and SHA-256 sums. Everything is made from the preset `package`; the same
commit gives the same bytes (SOURCE_DATE_EPOCH is the commit's time).
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess

import debian
import manual
import sbom
from common import BUILD, OUT, ROOT, VERSION, run, write

PACKAGE = ROOT / "packaging"
PORTABLE = f"callgate-{VERSION}-linux-x64"


def find_pglib():
    """libpgcommon and libpgport as static libraries, of the version of libpq.a. Debian has them in a package that would bring a
    compiler along; only its files are wanted."""
    folder = BUILD / "pglib"
    found = folder / "usr/lib/postgresql/15/lib"
    if not (found / "libpgcommon_shlib.a").exists():
        version = run("dpkg-query", "-W", "-f", "${Version}", "libpq-dev")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run("apt-get", "download", "-q", f"postgresql-server-dev-15={version}", cwd=folder)
        run("dpkg-deb", "-x", next(folder.glob("*.deb")), folder)
    return found


def build():
    commit = run("git", "rev-parse", "HEAD", cwd=ROOT)
    run("cmake", "--preset", "package", f"-DCALLGATE_PGLIB={find_pglib()}", f"-DCALLGATE_COMMIT={commit}",
        f"-DCMAKE_CXX_FLAGS=-ffile-prefix-map={ROOT}/=", f"-DCMAKE_C_FLAGS=-ffile-prefix-map={ROOT}/=", cwd=ROOT)
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    subprocess.run(["cmake", "--build", "--preset", "package", "-j", jobs], check=True, cwd=ROOT)


def strip(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    run("strip", "--strip-unneeded", "-o", target, source)
    target.chmod(0o755)


def build_archive(callgate):
    tree = BUILD / "stage" / PORTABLE
    strip(callgate, tree / "callgate")
    shutil.copy(ROOT / "LICENSE", tree)
    shutil.copy(PACKAGE / "callgate.toml", tree / "callgate.toml.example")
    write(tree / "README", f"callgate {VERSION}. It needs glibc {sbom.GLIBC_FLOOR} or newer and nothing else.\n\n"
          "  ./callgate serve --demo\n\n`./callgate manual | man -l -` shows the manual. PostgreSQL logins by Kerberos and LDAP are "
          "left out.\n")
    archive = OUT / f"{PORTABLE}.tar.gz"
    run("tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{os.environ['SOURCE_DATE_EPOCH']}",
        "--use-compress-program=gzip -9n", "-cf", archive, "-C", tree.parent, tree.name)
    return archive


def build_npm(binary):
    for name in ("callgate", "linux-x64"):
        tree = BUILD / "stage/npm" / name
        shutil.copytree(PACKAGE / "npm" / name, tree)
        shutil.copy(ROOT / "LICENSE", tree)
        described = json.loads((tree / "package.json").read_text(encoding="utf-8").replace("0.0.0", VERSION))
        write(tree / "package.json", json.dumps(described, indent=2) + "\n")
        if name == "linux-x64":
            (tree / "bin").mkdir()
            shutil.copy(binary, tree / "bin/callgate")
        run("npm", "pack", "--silent", "--pack-destination", OUT, cwd=tree)


def write_sums():
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(OUT.iterdir())]
    write(OUT / "SHA256SUMS", "".join(lines))
    print("".join(lines), end="")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--no-build", action="store_true", help="package what build/package has")
    arguments = arguments.parse_args()
    os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct", cwd=ROOT)
    os.environ["TZ"] = "UTC"
    if not arguments.no_build:
        build()
    for folder in (BUILD / "stage", OUT):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    pages = manual.write_pages(BUILD / "callgate", BUILD / "stage/man")
    debian.build_all(BUILD, pages)
    build_archive(BUILD / "portable/callgate")
    build_npm(BUILD / "stage" / PORTABLE / "callgate")
    sbom.write_documents(BUILD, OUT)
    write_sums()


if __name__ == "__main__":
    main()
