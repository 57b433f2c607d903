#!/usr/bin/env python3
"""Counts what a request costs a gateway: user instructions and allocations (valgrind), system calls (strace).

  bench/gateway/count.py build/run/callgate                 a whole answer of 1 KB, without a store
  bench/gateway/count.py build/run/callgate --store sqlite  ...with one: all threads count
  bench/gateway/count.py build/run/callgate --model burst   streams of 300 frames; figures per frame
  bench/gateway/count.py build/run/callgate --model paced   ...of 50 frames, one every 100 ms: takes minutes
  bench/gateway/count.py build/run/callgate --top 30        ...and the functions that cost most

Counts do not depend on how busy the machine is; the first requests, which fill caches, are not counted.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CONFIG = """
listen = "127.0.0.1:0"
threads = 1
[log]
level = "error"
[store]
url = "{store}"
[limits]
max_streams = 0
[[key]]
name = "bench"
secret = "bench"
[[upstream]]
name = "mock"
url = "http://127.0.0.1:{mock}/v1"
[[model]]
name = "{model}"
upstream = "mock"
"""
FRAMES = {"burst": 303, "paced": 53}


def start(argv, log):
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=log, text=True)
    for line in child.stdout:
        if "listening on" in line:
            return child, int(line.rsplit(":", 1)[1])
    sys.exit(f"did not start: {' '.join(argv)}")


def ask(connection, model, count):
    body = json.dumps({"model": model, "stream": model in FRAMES, "messages": [{"role": "user", "content": "Say a kilobyte."}]})
    headers = {"content-type": "application/json", "authorization": "Bearer bench", "user-agent": "count", "accept": "*/*"}
    for _ in range(count):
        connection.request("POST", "/v1/chat/completions", body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{answer.status}: {text[:300]}")


def read_profile(paths):
    """Inclusive and own instructions and the calls of each function."""
    own, inclusive, calls = collections.Counter(), collections.Counter(), collections.Counter()
    for path in paths:
        names, fn, called = {}, "", ""

        def name_of(text):
            match = re.match(r"\((\d+)\)(?: (.*))?", text)
            if match.group(2):
                names[match.group(1)] = match.group(2)
            return names[match.group(1)]

        expects_cost = False
        for line in open(path, errors="replace"):
            line = line.rstrip("\n")
            if line.startswith("fn="):
                fn = name_of(line[3:])
            elif line.startswith("cfn="):
                called = name_of(line[4:])
            elif line.startswith("calls="):
                calls[called] += int(line[6:].split()[0])
                expects_cost = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                cost = int(line.split()[1]) if len(line.split()) > 1 else 0
                if expects_cost:
                    if called != fn:
                        inclusive[called] += cost
                    expects_cost = False
                else:
                    own[fn] += cost
    return own, inclusive, calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("callgate")
    parser.add_argument("--model", default="whole", choices=["whole", "burst", "paced"])
    parser.add_argument("--store", default="none", choices=["none", "sqlite"])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--top", type=int, default=0)
    parser.add_argument("--out", help="keep the profile for callgrind_annotate or kcachegrind")
    args = parser.parse_args()
    requests = args.requests if args.model == "whole" else max(5, args.requests // 20)
    per = requests * FRAMES.get(args.model, 1)
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w+") as log:
        mock, mock_port = start([args.callgate, "mock", "--script", str(HERE / "model.script"), "--listen", "127.0.0.1:0"], log)
        config = os.path.join(tmp, "callgate.toml")
        store = "none" if args.store == "none" else f"sqlite:{tmp}/bench.db"
        open(config, "w").write(CONFIG.format(store=store, mock=mock_port, model=args.model))
        out = os.path.join(tmp, "callgrind")
        serve = [args.callgate, "serve", "--config", config]
        gateway, port = start(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "-q", *serve], log)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        ask(connection, args.model, requests // 4 or 1)
        control = ["callgrind_control", str(gateway.pid)]
        subprocess.run([*control, "-z"], check=True, stdout=subprocess.DEVNULL, stderr=log)
        ask(connection, args.model, requests)
        subprocess.run([*control, "-d"], check=True, stdout=subprocess.DEVNULL, stderr=log)
        dumps = [str(path) for path in pathlib.Path(tmp).glob("callgrind.1*")]
        own, inclusive, calls = read_profile(dumps)
        if args.out:
            shutil.copy(dumps[0], args.out)
        gateway.terminate()
        gateway.wait(60)
        if shutil.which("strace"):
            report = os.path.join(tmp, "strace")
            gateway, port = start(serve, log)
            connection = http.client.HTTPConnection("127.0.0.1", port)
            ask(connection, args.model, requests // 4 or 1)
            tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", report, "-p", str(gateway.pid)], stderr=log)
            time.sleep(1)
            ask(connection, args.model, requests)
            tracer.terminate()
            tracer.wait(10)
            kinds = collections.Counter(re.findall(r"^\d+ +(\w+)\(", open(report).read(), re.M))
            gateway.terminate()
            gateway.wait(60)
        else:
            kinds = {}
        mock.terminate()
    what = "frame" if args.model in FRAMES else "request"
    allocations = sum(count for name, count in calls.items() if re.match(r"(malloc|calloc|realloc|posix_memalign|aligned_alloc)($|')", name))
    print(f"{sum(own.values()) / per:,.0f} instructions per {what}")
    print(f"{allocations / per:.2f} allocations per {what}")
    if kinds:
        print(f"{sum(kinds.values()) / per:.2f} system calls per {what}: " + ", ".join(f"{name} {count / per:.2f}" for name, count in collections.Counter(kinds).most_common(8)))
    for title, table in (("own", own), ("with what it calls", inclusive)):
        for name, cost in table.most_common(args.top):
            print(f"{cost / per:12,.0f} {calls[name] / per:8.2f} calls  {title}: {name[:150]}")


if __name__ == "__main__":
    main()
