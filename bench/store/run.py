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
import machine  # noqa: E402


def postgres_binaries():
    return sorted(glob.glob("/usr/lib/postgresql/*/bin"))


def has_postgres():
    return bool(postgres_binaries())


class Postgres:
    """A server of its own with its default settings. Root may not run it: then it belongs to the user `postgres`."""

    def __init__(self, folder):
        binaries = postgres_binaries()
        self.port = machine.free_port()
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


def measure(callgate, generator, rounds, requests, streams):
    """Rates and CPU times of whole answers, and of streams unless there are none, by variant; values of each round."""
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w") as log:
        postgres = Postgres(tmp) if has_postgres() else None
        script = str(HERE.parent / "gateway" / "model.script")
        mock = machine.Process([callgate, "mock", "--script", script, "--listen", "127.0.0.1:0"], "0,1", log)
        mock_port = mock.wait_ready()
        sqlite = "sqlite:" + os.path.join(tmp, "bench{}.db")
        variants = {
            "no store": ("none", ""),
            "SQLite": (sqlite.format(1), ""),
            "SQLite, no content": (sqlite.format(2), "content = false"),
        }
        if postgres:
            variants["PostgreSQL"] = (postgres.url, "")
        procs = {}
        for name, (url, more) in variants.items():
            path = os.path.join(tmp, name.replace(" ", "_") + ".toml")
            text = machine.CONFIG.format(store=url, mock=mock_port).replace("[limits]", more + "\n[limits]")
            open(path, "w").write(text.replace("threads = 1", "threads = 2") + machine.MODELS)
            procs[name] = machine.Process([callgate, "serve", "--config", path], "0,1", log)
            procs[name].wait_ready()
        loads = [("whole", "whole", requests), ("burst", "stream", streams)]
        table = {name: {} for name in variants}
        for turn in range(rounds + 1):
            print(f"store: round {turn} of {rounds}" if turn else "store: warming up", file=sys.stderr)
            for name in variants:
                for model, mode, count in loads[: 2 if streams else 1]:
                    before = procs[name].cpu_us()
                    result = machine.run_load([generator, f"http://127.0.0.1:{procs[name].port}/v1", model, str(count), "32", mode])
                    time.sleep(0.5)  # what is queued is written in time that counts
                    cpu = (procs[name].cpu_us() - before) / result["requests"]
                    if turn:
                        table[name].setdefault(mode + " rate", []).append(result["requests"] / result["seconds"])
                        table[name].setdefault(mode + " cpu", []).append(cpu)
        for process in [*procs.values(), mock]:
            process.stop()
        if postgres:
            postgres.stop()
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(machine.ROOT / "build/release"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--streams", type=int, default=1000)
    args = parser.parse_args()
    callgate, generator = (os.path.join(args.bin, name) for name in ("callgate", "bench/gateway_load"))
    table = measure(callgate, generator, args.rounds, args.requests, args.streams)
    print("| what | " + " | ".join(table) + " |")
    print("|---|" + "---|" * len(table))
    titles = {"whole rate": "1 KB whole answers per second", "whole cpu": "CPU us of callgate per whole answer",
              "stream rate": "300-frame streams per second", "stream cpu": "CPU us of callgate per stream"}
    for key, title in titles.items():
        print(f"| {title} | " + " | ".join(machine.shown(values[key], 1) for values in table.values()) + " |")
        ratios = [[a / b for a, b in zip(values[key], table["no store"][key])] for values in table.values()]
        print("| ... as a share of no store | " + " | ".join(f"{statistics.median(each):.3f}" for each in ratios) + " |")


if __name__ == "__main__":
    main()
