#!/usr/bin/env python3
"""What the store costs: the same gateway with no store, with SQLite and with PostgreSQL, one interleaved run.

Every gateway has both cores, as have the mock, the load generator and the database: a request that is recorded takes
from all of them. Medians over the rounds, with the spread in brackets; ratios are taken within a round.
"""
import argparse
import glob
import os
import pathlib
import pwd
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gateway"))
import run as gateway  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Postgres:
    """A server of its own with its default settings. Root may not run it: then it belongs to the user `postgres`."""

    def __init__(self, folder):
        binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not binaries:
            sys.exit("PostgreSQL is not installed")
        self.port = free_port()
        data = os.path.join(folder, "pg")
        os.mkdir(data)
        self.prefix = []
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(data, owner.pw_uid, owner.pw_gid)
            os.chmod(folder, 0o755)
            self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*self.prefix, binaries[-1] + "/initdb", "-D", data, "-U", "callgate", "-A", "trust"], check=True,
                       stdout=subprocess.DEVNULL)
        self.child = subprocess.Popen([*self.prefix, binaries[-1] + "/postgres", "-D", data, "-p", str(self.port), "-h",
                                       "127.0.0.1", "-c", "unix_socket_directories="], stderr=subprocess.DEVNULL)
        self.url = f"postgresql://callgate@127.0.0.1:{self.port}/postgres"
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)
        time.sleep(0.5)

    def stop(self):
        self.child.send_signal(signal.SIGINT)
        self.child.wait(20)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--streams", type=int, default=1000)
    args = parser.parse_args()
    callgate = os.path.join(args.bin, "callgate")
    generator = os.path.join(args.bin, "bench/gateway_load")
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w") as log:
        postgres = Postgres(tmp)
        script = str(HERE.parent / "gateway" / "model.script")
        mock = gateway.Process([callgate, "mock", "--script", script, "--listen", "127.0.0.1:0"], "0,1", log)
        mock_port = mock.wait_ready()
        models = "".join(f'[[model]]\nname = "{m}"\nupstream = "mock"\n' for m in ("whole", "burst"))
        sqlite = "sqlite:" + os.path.join(tmp, "bench{}.db")
        variants = {
            "no store": ("none", ""),
            "SQLite": (sqlite.format(1), ""),
            "SQLite, no content": (sqlite.format(2), "content = false"),
            "PostgreSQL": (postgres.url, ""),
        }
        ports, procs = {}, {}
        for name, (url, more) in variants.items():
            path = os.path.join(tmp, name.replace(" ", "_") + ".toml")
            text = gateway.CONFIG.format(store=url, mock=mock_port).replace("[limits]", more + "\n[limits]")
            open(path, "w").write(text.replace("threads = 1", "threads = 2") + models)
            procs[name] = gateway.Process([callgate, "serve", "--config", path], "0,1", log)
            ports[name] = procs[name].wait_ready()
        table = {name: {} for name in variants}
        for turn in range(args.rounds + 1):
            print(f"round {turn} of {args.rounds}" if turn else "warming up", file=sys.stderr)
            for name in variants:
                for model, mode, count, per in (("whole", "whole", args.requests, "requests"),
                                                ("burst", "stream", args.streams, "requests")):
                    before = procs[name].cpu_us()
                    argv = [generator, f"http://127.0.0.1:{ports[name]}/v1", model, str(count), "32", mode]
                    result = gateway.run_load(argv)
                    time.sleep(0.5)  # what is queued is written in time that counts
                    cpu = (procs[name].cpu_us() - before) / result[per]
                    if turn:
                        table[name].setdefault(mode + " rate", []).append(result["requests"] / result["seconds"])
                        table[name].setdefault(mode + " cpu", []).append(cpu)
        for process in [*procs.values(), mock]:
            process.stop()
        postgres.stop()
    print("| what | " + " | ".join(variants) + " |")
    print("|---|" + "---|" * len(variants))
    titles = {"whole rate": "1 KB whole answers per second", "whole cpu": "CPU us of callgate per whole answer",
              "stream rate": "300-frame streams per second", "stream cpu": "CPU us of callgate per stream"}
    for key, title in titles.items():
        print(f"| {title} | " + " | ".join(gateway.shown(table[name][key], 1) for name in variants) + " |")
        ratios = {name: [a / b for a, b in zip(table[name][key], table["no store"][key])] for name in variants}
        print(f"| ... as a share of no store | " + " | ".join(f"{statistics.median(ratios[name]):.3f}" for name in variants) + " |")


if __name__ == "__main__":
    main()
