#!/usr/bin/env python3
"""Fetches the npm packages of a lock file without npm: fetch_npm.py FROM TO.

The packages of FROM/package-lock.json that fit this machine go into TO/node_modules; each must have the SHA-512 of the lock file. No
script of a package runs. The registry is npm's own, or npm_config_registry.
"""
import base64
import concurrent.futures
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import sys
import tarfile
import urllib.request

REGISTRY = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")
CPU = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
TIMEOUT = 60  # seconds


def fits(package):
    return sys.platform in package.get("os", [sys.platform]) and CPU in package.get("cpu", [CPU])


def fetch(path, package):
    name = path.rpartition("node_modules/")[2]
    url = f"{REGISTRY}/{name}/-/{name.rpartition('/')[2]}-{package['version']}.tgz"
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
        archive = answer.read()
    wanted = package["integrity"].removeprefix("sha512-")
    if base64.b64encode(hashlib.sha512(archive).digest()).decode() != wanted:
        sys.exit(f"fetch_npm.py: {url} is not what the lock file names")
    return archive


def unpack(archive, target):
    """The files of the archive below target; their first folder, mostly `package`, is left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            inside = pathlib.PurePosixPath(member.name).parts[1:]
            if not member.isfile() or not inside or ".." in inside:
                continue
            path = target.joinpath(*inside)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.extractfile(member).read())
            path.chmod(0o755 if member.mode & 0o100 else 0o644)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: fetch_npm.py FROM TO")
    source, room = map(pathlib.Path, sys.argv[1:])
    lock = json.loads((source / "package-lock.json").read_text(encoding="utf-8"))
    wanted = {path: package for path, package in lock["packages"].items() if path and fits(package)}
    shutil.rmtree(room / "node_modules", ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        archives = dict(zip(wanted, pool.map(fetch, wanted, wanted.values())))
    for path, archive in archives.items():
        unpack(archive, room / path)


if __name__ == "__main__":
    main()
