"""The Debian packages: callgate (the gateway), callgate-dev, libcallgate-c0 (C) and python3-callgate."""
import email.utils
import gzip
import os
import pathlib
import shutil

from common import OUT, ROOT, VERSION, run, write

ARCH = "amd64"
LIBDIR = "usr/lib/x86_64-linux-gnu"
# Who packages; unless told, the author of the commit.
MAINTAINER = os.environ.get("CALLGATE_MAINTAINER") or run("git", "log", "-1", "--format=%an <%ae>", cwd=ROOT)
ABOUT = """ Whatever way a model writes its tool calls, clients get clean calls in
 their own protocol, as they stream."""


def depends_of(tree, *binaries):
    """The packages of the shared libraries that the binaries need, with the least versions."""
    work = tree.parent / "shlibdeps"
    write(work / "debian/control", f"Source: callgate\n\nPackage: callgate\nArchitecture: {ARCH}\n")
    found = run("dpkg-shlibdeps", "-O", *[f"-e{binary}" for binary in binaries], cwd=work)
    return found.split("=", 1)[1]


def compress(path):
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def add_docs(tree, package):
    folder = tree / "usr/share/doc" / package
    write(folder / "copyright", "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: callgate\n\n"
          "Files: *\nCopyright: 2025-2026 The Callgate authors\nLicense: Apache-2.0\n On Debian systems the text of the license is in\n"
          " /usr/share/common-licenses/Apache-2.0.\n")
    date = email.utils.formatdate(int(os.environ["SOURCE_DATE_EPOCH"]))
    write(folder / "changelog", f"callgate ({VERSION}) unstable; urgency=medium\n\n  * Release {VERSION}; see CHANGELOG.md of the "
          f"source.\n\n -- {MAINTAINER}  {date.replace('-0000', '+0000')}\n")
    compress(folder / "changelog")


def settle(tree):
    """Modes as Debian wants them, whatever the umask was."""
    for path in tree.rglob("*"):
        if path.is_symlink():
            continue
        executable = path.is_dir() or (path.stat().st_mode & 0o100 and ".so" not in path.name)
        path.chmod(0o755 if executable else 0o644)
    tree.chmod(0o755)


def build_deb(tree, package, summary, fields, scripts=(), conffiles=(), files=None):
    add_docs(tree, package)
    settle(tree)
    size = sum((path.lstat().st_size + 1023) // 1024 for path in tree.rglob("*"))
    control = {"Package": package, "Source": "callgate", "Version": VERSION, "Architecture": ARCH, "Maintainer": MAINTAINER,
               "Installed-Size": size, "Section": "net", "Priority": "optional", **fields}
    if package == "callgate":
        del control["Source"]
    text = "".join(f"{name}: {value}\n" for name, value in control.items())
    write(tree / "DEBIAN/control", text + f"Description: {summary}\n{ABOUT}\n")
    sums = [run("md5sum", path.relative_to(tree), cwd=tree) + "\n" for path in sorted(tree.rglob("*"))
            if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts]
    write(tree / "DEBIAN/md5sums", "".join(sums))
    if conffiles:
        write(tree / "DEBIAN/conffiles", "".join(f"{name}\n" for name in conffiles))
    for name, text in (files or {}).items():
        write(tree / "DEBIAN" / name, text)
    for script in scripts:
        shutil.copy(ROOT / "packaging/deb" / script, tree / "DEBIAN")
        (tree / "DEBIAN" / script).chmod(0o755)
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, OUT / f"{package}_{VERSION}_{control['Architecture']}.deb")


def install(build, tree, component):
    run("cmake", "--install", build, "--component", component, env=dict(os.environ, DESTDIR=str(tree)))


def build_server(build, stage, pages):
    tree = stage / "callgate"
    install(build, tree, "server")
    binary = tree / "usr/bin/callgate"
    run("strip", "--strip-unneeded", binary)
    for page in sorted(pages.iterdir()):
        target = tree / f"usr/share/man/man{page.suffix[1:]}" / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
        compress(target)
    write(tree / "usr/share/bash-completion/completions/callgate", run(binary, "completion", "bash") + "\n")
    write(tree / "usr/share/fish/vendor_completions.d/callgate.fish", run(binary, "completion", "fish") + "\n")
    write(tree / "etc/callgate/callgate.toml", (ROOT / "packaging/callgate.toml").read_text(encoding="utf-8"))
    write(tree / "lib/systemd/system/callgate.service", (ROOT / "packaging/deb/callgate.service").read_text(encoding="utf-8"))
    build_deb(tree, "callgate", "streaming tool-call gateway for language models",
              {"Depends": depends_of(tree, binary) + ", libpq5 (>= 14), adduser, ca-certificates", "Suggests": "postgresql"},
              scripts=("postinst", "prerm", "postrm"), conffiles=("/etc/callgate/callgate.toml",))


def build_dev(build, stage):
    tree = stage / "callgate-dev"
    install(build, tree, "dev")
    run("strip", "--strip-debug", "--enable-deterministic-archives", tree / LIBDIR / "libcallgate.a")
    build_deb(tree, "callgate-dev", "streaming tool-call parser: headers and static library",
              {"Section": "libdevel", "Depends": f"libcallgate-c0 (= {VERSION}), libicu-dev, libexpected-dev"})


def build_shared(build, stage):
    tree = stage / "libcallgate-c0"
    install(build, tree, "shared")
    library = next(path for path in (tree / LIBDIR).iterdir() if not path.is_symlink())
    run("strip", "--strip-unneeded", library)
    build_deb(tree, "libcallgate-c0", "streaming tool-call parser: C library",
              {"Section": "libs", "Depends": depends_of(tree, library), "Multi-Arch": "same"},
              files={"shlibs": f"libcallgate_c 0 libcallgate-c0 (>= {VERSION})\n", "triggers": "activate-noawait ldconfig\n"})


def build_python(stage):
    tree = stage / "python3-callgate"
    folder = tree / "usr/lib/python3/dist-packages/callgate"
    folder.mkdir(parents=True)
    for path in sorted((ROOT / "python/callgate").iterdir()):
        if path.is_file():
            shutil.copy(path, folder)
    build_deb(tree, "python3-callgate", "streaming tool-call parser: Python module",
              {"Architecture": "all", "Section": "python", "Depends": f"python3:any, libcallgate-c0 (>= {VERSION})"})


def build_all(build, pages):
    stage = pathlib.Path(build) / "stage/deb"
    build_server(build, stage, pages)
    build_dev(build, stage)
    build_shared(build, stage)
    build_python(stage)
