#!/usr/bin/env python3
"""The tables of docs/performance.md: callgate beside nginx and haproxy, with and without a store, over TLS, for each protocol, and how it grows.

Mock, paced upstream and load generator share core 0, the proxy under test has core 1 to itself. CPU time is what the kernel counted for
the proxy's threads. Ratios are taken within a round, where all run after each other; values are medians over the rounds, with the spread
in brackets. With --write the tables replace those in a file, with date and commit.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import machine
import report

sys.path.insert(0, str(machine.HERE.parent / "store"))
import run as store_run  # noqa: E402  (bench/store/run.py: this file is __main__)

FRAMES = 303  # of a stream of the model `burst`
SAID = "What is the weather in Paris today, and should I take an umbrella with me?"
CHAT = {"messages": [{"role": "user", "content": SAID}]}
# The path, and the body without model and stream.
PROTOCOLS = {
    "openai_chat": ("/v1/chat/completions", CHAT),
    "openai_responses": ("/v1/responses", {"input": SAID}),
    "openai_completions": ("/v1/completions", {"prompt": SAID}),
    "anthropic_messages": ("/v1/messages", {**CHAT, "max_tokens": 1000}),
    "gemini": ("/v1beta/models/burst:streamGenerateContent?alt=sse", {"contents": [{"role": "user", "parts": [{"text": SAID}]}]}),
    "ollama": ("/api/chat", CHAT),
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def beside_others(bench, args, found):
    """Each proxy in turn, round after round."""
    proxies = {"nginx": {"mock": bench.nginx(bench.mock), "paced": bench.nginx(bench.paced)}}
    if machine.find_program("haproxy"):
        proxies["haproxy"] = {"mock": bench.haproxy(bench.mock), "paced": bench.haproxy(bench.paced)}
    for name, store in (("callgate, SQLite", "sqlite:" + bench.path("bench.db")), ("callgate", "none")):
        process = bench.gateway(store)
        proxies[name] = {"mock": process, "paced": process}
    for proxy in proxies.values():
        bench.measure(proxy["mock"], "requests", "whole", 2000, 32, "whole")
        bench.measure(proxy["mock"], "frames", "burst", 50, 32, "stream")
    for turn in range(args.rounds):
        say(f"beside nginx: round {turn + 1} of {args.rounds}")
        for name, proxy in proxies.items():
            def note(key, value):
                found.note(f"{key}/{name}", value)
            _, cpu = bench.measure(proxy["mock"], "requests", "whole", args.requests, 32, "whole")
            note("whole_cpu", cpu)
            result, _ = bench.measure(proxy["mock"], "requests", "whole", args.requests // 20, 1, "whole")
            note("lone_p50", result["total_p50"])
            note("lone_p99", result["total_p99"])
            note("burst_cpu", bench.measure(proxy["mock"], "frames", "burst", args.streams, 32, "stream")[1])
            for streams in args.paced:
                result, cpu, _ = bench.measure_paced(proxy["paced"], streams)
                note(f"paced_{streams}_cpu", cpu)
                note(f"paced_{streams}_p50", result["frame_p50"])
                note(f"paced_{streams}_p99", result["frame_p99"])


def memory_of_streams(bench, args, found):
    """Memory is given back late or never: only a fresh process tells what streams need."""
    streams = args.paced[1]
    for kind, tls, behind in (("plain", False, bench.paced), ("TLS", True, bench.paced_tls)):
        for name, start in (("nginx", lambda: bench.nginx(behind, tls)), ("callgate", lambda: bench.gateway(tls=tls))):
            process = start()
            _, cpu, memory = bench.measure_paced(process, streams)
            found.note(f"memory_{kind}/{name}", memory)
            found.note(f"paced_cpu_{kind}/{name}", cpu)
            process.stop()


def each_protocol(bench, args, found):
    process = bench.gateway()
    for turn in range(args.rounds + 1):
        for name, (path, body) in PROTOCOLS.items():
            file = bench.path(f"{name}.json")
            open(file, "w").write(json.dumps({**body, **({} if name == "gemini" else {"model": "burst", "stream": True})}))
            _, cpu = bench.measure(process, "requests", "burst", args.streams // 4, 32, "stream", path, file)
            if turn:
                found.note(f"protocol/{name}", cpu / FRAMES)
    process.stop()


def growth(bench, args, found):
    process = bench.gateway()
    for turn in range(args.rounds):
        for count in (1, 100, 10_000):
            file = bench.path(f"messages-{count}.json")
            turns = [{"role": "assistant" if i % 2 else "user", "content": SAID} for i in range(count - 1)]
            body = {"model": "whole", "messages": [*turns, {"role": "user", "content": SAID}]}
            open(file, "w").write(json.dumps(body))
            requests = max(20, args.requests // (10 * count))
            _, cpu = bench.measure(process, "requests", "whole", requests, 4, "whole", "/v1/chat/completions", file)
            found.note(f"messages/{count}", cpu)
    process.stop()
    process = bench.gateway()
    idle, count, sockets = process.rss_kb(), args.idle, []
    try:
        for _ in range(count):
            sockets.append(socket.create_connection(("127.0.0.1", process.port)))
        time.sleep(1)
        found.note("idle_connection", (process.rss_kb() - idle) / count)
    except OSError as problem:
        say(f"idle connections: {problem}")
    for each in sockets:
        each.close()
    process.stop()


def start_and_size(bench, args, found):
    stripped = bench.path("stripped")
    shutil.copy(bench.callgate, stripped)
    subprocess.run(["strip", stripped], check=True)
    found.note("binary", os.path.getsize(stripped) / 1e6)
    for _ in range(7):
        begin = time.monotonic()
        process = machine.Process([bench.callgate, "serve", "--demo", "--listen", "127.0.0.1:0"], "0,1", bench.log)
        connection = http.client.HTTPConnection("127.0.0.1", process.wait_ready())
        connection.request("GET", "/livez")
        connection.getresponse().read()
        found.note("start", (time.monotonic() - begin) * 1000)
        found.note("idle_memory", process.rss_kb() / 1000)
        process.stop()


def counts(bench, args, found):
    for model, key in (("whole", ""), ("burst", "frame_")):
        out = subprocess.run([sys.executable, str(machine.HERE / "count.py"), bench.callgate, "--model", model], capture_output=True, text=True)
        for value, what in re.findall(r"^([\d,.]+) (instructions|allocations|system calls) per", out.stdout, re.M):
            found.note(f"{key}{what.replace(' ', '_')}", float(value.replace(",", "")))


def dialects(bench, args, found):
    program = os.path.join(bench.programs, "dialect_bench")
    if not os.path.exists(program):
        return
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.05", "--benchmark_filter=/1KB/4$"], capture_output=True, text=True)
    rates = [run["bytes_per_second"] / 1e6 for run in json.loads(out.stdout or '{"benchmarks":[]}')["benchmarks"]]
    if rates:
        found.note("dialect_rate", min(rates))


def store(bench, args, found):
    rows = os.path.join(bench.programs, "store_rows")
    postgres = store_run.Postgres(bench.folder) if store_run.has_postgres() else None
    for turn in range(args.rounds):
        urls = {"sqlite": "sqlite:" + bench.path(f"rows-{turn}.db")}
        if postgres:
            urls["postgresql"] = postgres.url
        for name, url in urls.items():
            out = subprocess.run([rows, url, str(args.requests)], capture_output=True, text=True, check=True).stdout
            found.note(f"log_{name}", float(out.split()[0]))
    if postgres:
        postgres.stop()
    table = store_run.measure(bench.callgate, os.path.join(bench.programs, "gateway_load"), args.rounds, args.requests, 0)
    for name, key in (("SQLite", "sqlite"), ("PostgreSQL", "postgresql")):
        if name in table:
            for own, none in zip(table[name]["whole rate"], table["no store"]["whole rate"]):
                found.note(f"throughput_{key}", own / none)


SECTIONS = {"beside": beside_others, "memory": memory_of_streams, "protocols": each_protocol, "growth": growth, "start": start_and_size,
            "counts": counts, "dialects": dialects, "store": store}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(machine.ROOT / "build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--streams", type=int, default=400)
    parser.add_argument("--paced", type=int, nargs=3, default=[100, 1000, 5000], help="how many paced streams at a time: few, many, most")
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--write", type=pathlib.Path, help="the page whose tables are replaced")
    args = parser.parse_args()
    machine.allow_descriptors()
    found = report.Found(args)
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w") as log:
        os.chmod(tmp, 0o755)
        bench = machine.Bench(args.bin, tmp, log)
        try:
            for name in args.only:
                say(name)
                SECTIONS[name](bench, args, found)
        finally:
            bench.stop()
        found.problems = bench.problems
    text = report.page(found)
    print(text)
    if args.write:
        report.write(args.write, text)


if __name__ == "__main__":
    main()
