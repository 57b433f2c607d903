#!/usr/bin/env python3
"""Installs the library from a build folder and uses it as strangers do: run.py BUILD CC CXX [FLAG...].

The programs are those that docs/library.md prints. Flags, such as those of sanitizers, are used for everything that is compiled.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD, CC, CXX = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
FLAGS = [flag for argument in sys.argv[4:] for flag in argument.split()]
WORK = BUILD / "library_test"
PREFIX = WORK / "prefix"
PRINTED = 'call find {"q": "tea"}'


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def write_programs():
    text = (ROOT / "docs/library.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.S):
        path = WORK / "program" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")


def configure(source, build, *options):
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_CXX_COMPILER={CXX}",
        f"-DCMAKE_C_FLAGS={' '.join(FLAGS)}", f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS)}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)


def check_compile_commands(build, include):
    """Only the public headers are on the include path of a program, and C++20 is on."""
    [command] = [entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())
                 if entry["file"].endswith("main.cpp") and "/src/" not in entry["file"]]
    folders = re.findall(r"-(?:I|isystem) ?(\S+)", command)
    expect([os.path.realpath(folder) for folder in folders] == [os.path.realpath(include)], f"include path: {folders}")
    expect(re.search(r"-std=(c|gnu)\+\+20", command), f"C++20: {command}")


def check_installed_package():
    for component in ("dev", "shared"):
        run("cmake", "--install", BUILD, "--prefix", PREFIX, "--component", component)
    examples = sorted(path.stem for path in (ROOT / "examples").glob("*.cpp"))
    source, build = WORK / "consumer", WORK / "consumer_build"
    shutil.copytree(ROOT / "tests/library/consumer", source)
    shutil.copy(WORK / "program/main.cpp", source)
    configure(source, build, f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DEXAMPLES={';'.join(examples)}", f"-DCHECKOUT={ROOT}",
              "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", build)
    expect(run(build / "mine").strip() == PRINTED, "what the program prints")
    run("ctest", "--test-dir", build, "--no-tests=error", "--output-on-failure")
    check_compile_commands(build, PREFIX / "include")
    return len(examples)


def check_pkg_config():
    [folder] = {path.parent for path in PREFIX.rglob("*.pc")}
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))

    def flags(package):
        return run("pkg-config", "--cflags", "--libs", package, env=environment).split()
    include, *libraries = flags("callgate_c")
    run(CC, *FLAGS, "-std=c99", include, "-c", WORK / "program/main.c", "-o", WORK / "main.o")
    linker = CXX if FLAGS else CC  # with sanitizers, the C driver leaves out what the C++ in the library needs
    run(linker, *FLAGS, WORK / "main.o", "-o", WORK / "c_shared", *libraries)
    expect(run(WORK / "c_shared", env=dict(os.environ, LD_LIBRARY_PATH=str(folder.parent))) == 'find{"q": "tea"}', "the C program")
    run(CXX, *FLAGS, "-std=c++20", WORK / "program/main.cpp", "-o", WORK / "cpp_static", *flags("callgate"))
    expect(run(WORK / "cpp_static").strip() == PRINTED, "the C++ program with pkg-config")
    return folder.parent


def check_python(libraries):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"), CALLGATE_LIBRARY=str(libraries / "libcallgate_c.so.0"))
    if os.environ.get("PYTHON_PRELOAD"):  # the runtime of a sanitizer
        environment.update(LD_PRELOAD=os.environ["PYTHON_PRELOAD"], ASAN_OPTIONS="detect_leaks=0")
    printed = run(sys.executable, WORK / "program/main.py", env=environment)
    expect("tool_calls=[Call(name='find', arguments='{\"q\": \"tea\"}'" in printed, printed)
    expect(printed.endswith("tool_calls\n") and "\ncall find\n" in printed, printed)


def check_inside_other_projects():
    """Configured only: the sources are compiled everywhere else."""
    subdirectory = WORK / "program/subdirectory/CMakeLists.txt"
    subdirectory.parent.mkdir()
    text = (WORK / "program/fetch/CMakeLists.txt").read_text(encoding="utf-8")
    subdirectory.write_text(re.sub(r"include\(FetchContent\)\n.*\n.*\n", "add_subdirectory(${CALLGATE_CHECKOUT} callgate)\n", text))
    expect("FetchContent" not in subdirectory.read_text(), "add_subdirectory in place of FetchContent")
    for way in ("fetch", "subdirectory"):
        build = WORK / f"{way}_build"
        configure(WORK / "program" / way, build, f"-DCALLGATE_CHECKOUT={ROOT}", "-DCMAKE_BUILD_TYPE=Release")
        check_compile_commands(build, ROOT / "include")
        targets = run("cmake", "--build", build, "--target", "help")
        expect(re.search(r"^callgate_static: ", targets, re.M), "the library is a target")
        for foreign in ("callgate_bin", "callgate_net", "callgate_chat_test", "callgate_c", "example_pipeline"):
            expect(not re.search(rf"^{foreign}: ", targets, re.M), f"{foreign} is not built inside another project")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    write_programs()
    examples = check_installed_package()
    libraries = check_pkg_config()
    check_python(libraries)
    check_inside_other_projects()
    print(f"find_package with {examples} examples, pkg-config from C and C++, Python, FetchContent, add_subdirectory: ok")


main()
