#!/usr/bin/env python3
"""100,000 requests through one gateway with its SQLite store, in lots of 10,000, streamed and whole: memory must not grow
from lot to lot, and the log must hold every one of them."""
import argparse
import os
import pathlib
import sqlite3
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gateway"))
import machine  # noqa: E402

LOTS = 10
GROWTH = 1.10  # of the last lot over the third


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release"))
    parser.add_argument("--requests", type=int, default=100_000)
    args = parser.parse_args()
    callgate = os.path.join(args.bin, "callgate")
    generator = os.path.join(args.bin, "bench/gateway_load")
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w") as log:
        script = str(HERE.parent / "gateway" / "model.script")
        mock = machine.Process([callgate, "mock", "--script", script, "--listen", "127.0.0.1:0"], "0,1", log)
        mock_port = mock.wait_ready()
        database = os.path.join(tmp, "soak.db")
        path = os.path.join(tmp, "soak.toml")
        open(path, "w").write(machine.CONFIG.format(store="sqlite:" + database, mock=mock_port) + machine.MODELS)
        server = machine.Process([callgate, "serve", "--config", path], "0,1", log)
        port = server.wait_ready()
        sizes = []
        lot = args.requests // LOTS
        for number in range(LOTS):
            for model, mode, count in (("whole", "whole", lot - lot // 10), ("burst", "stream", lot // 10)):
                machine.run_load([generator, f"http://127.0.0.1:{port}/v1", model, str(count), "32", mode])
            time.sleep(1)
            sizes.append(server.rss_kb())
            print(f"{(number + 1) * lot} requests: {sizes[-1]} KB", flush=True)
        time.sleep(1)
        rows = sqlite3.connect(database).execute(
            "SELECT count(*), sum(state = 'completed'), (SELECT count(*) FROM content) FROM request").fetchone()
        server.stop()
        mock.stop()
    print(f"in the log: {rows[0]} requests, {rows[1]} completed, {rows[2]} rows of content")
    flat = sizes[-1] <= sizes[2] * GROWTH
    whole = rows[0] == rows[1] == lot * LOTS
    print("memory is flat" if flat else f"memory grew from {sizes[2]} to {sizes[-1]} KB")
    sys.exit(0 if flat and whole else 1)


if __name__ == "__main__":
    main()
