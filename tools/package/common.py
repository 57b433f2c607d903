"""What the packaging scripts share."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/package"
OUT = BUILD / "out"
VERSION = re.search(r'kVersion\[\] = "([0-9.]+)"', (ROOT / "include/callgate/version.h").read_text(encoding="utf-8")).group(1)


def run(*command, **options):
    """What the command prints, without white space around it. Ends the program if the command fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
