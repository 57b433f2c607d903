#!/usr/bin/env python3
"""Direct / nginx / callgate beside each other, one interleaved run against the same mock.

Mock and load generator share core 0, the proxy under test has core 1 to itself. CPU time is what the kernel counted for
the proxy's threads; it is divided by requests or frames. Medians over the rounds, with the spread (min to max) in brackets.
"""
import argparse
import glob
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
NGINX_CONF = """
daemon off; master_process off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/nginx.log;
events {{ worker_connections 16384; }}
http {{
  access_log off; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
  upstream mock {{ server 127.0.0.1:{mock}; keepalive 2048; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} reuseport; keepalive_requests 1000000000; tcp_nodelay on;
    location / {{ proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 300s; }}
  }}
}}
"""
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
max_idle_connections = 10000
"""


class Process:
    def __init__(self, argv, core, log, env=None):
        self.child = subprocess.Popen(["taskset", "-c", str(core)] + argv, stdout=subprocess.PIPE, stderr=log, text=True)
        self.pid = self.child.pid

    def wait_ready(self):
        line = self.child.stdout.readline()
        while line and "listening on" not in line:
            line = self.child.stdout.readline()
        if not line:
            sys.exit("a server did not start")
        return int(line.rsplit(":", 1)[1])

    def cpu_us(self):
        total = 0
        for path in glob.glob(f"/proc/{self.pid}/task/*/schedstat"):
            total += int(open(path).read().split()[0])
        return total / 1000.0

    def rss_kb(self):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()


def load(binary, port, model, requests, concurrency, mode):
    return run_load(["taskset", "-c", "0", binary, f"http://127.0.0.1:{port}/v1", model, str(requests), str(concurrency), mode])


def run_load(argv):
    out = subprocess.run(argv, capture_output=True, text=True)
    if not out.stdout:
        sys.exit(f"load failed: {out.stderr}")
    result = json.loads(out.stdout)
    if result["failed"]:
        sys.exit(f"{result['failed']} requests failed: {' '.join(argv)}")
    return result


def shown(values, digits=2):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}-{max(values):.{digits}f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--streams", type=int, default=400)
    parser.add_argument("--paced", type=int, default=1000)
    args = parser.parse_args()
    callgate = os.path.join(args.bin, "callgate")
    generator = os.path.join(args.bin, "bench/gateway_load")
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    with tempfile.TemporaryDirectory() as tmp, open(os.path.join(tmp, "log"), "w") as log:
        mock = Process([callgate, "mock", "--script", str(HERE / "model.script"), "--listen", "127.0.0.1:0"], 0, log)
        mock_port = mock.wait_ready()
        models = "".join(f'[[model]]\nname = "{m}"\nupstream = "mock"\n' for m in ("whole", "burst", "paced"))
        variants = {"callgate": "sqlite:" + os.path.join(tmp, "bench.db"), "callgate, no store": "none"}
        ports, procs = {"direct": mock_port}, {}
        for name, store in variants.items():
            path = os.path.join(tmp, name.replace(" ", "_") + ".toml")
            open(path, "w").write(CONFIG.format(store=store, mock=mock_port) + models)
            procs[name] = Process([callgate, "serve", "--config", path], 1, log)
            ports[name] = procs[name].wait_ready()
        conf = os.path.join(tmp, "nginx.conf")
        ports["nginx"] = mock_port + 1 if mock_port < 60000 else mock_port - 1000
        open(conf, "w").write(NGINX_CONF.format(dir=tmp, mock=mock_port, port=ports["nginx"]))
        procs["nginx"] = Process([nginx, "-c", conf, "-p", tmp], 1, log)
        time.sleep(0.5)
        order = ["direct", "nginx", *variants]
        table = {name: {} for name in order}

        def note(name, key, value):
            table[name].setdefault(key, []).append(value)

        def measure(name, per, model, requests, concurrency, mode):
            before = procs[name].cpu_us() if name in procs else 0
            result = load(generator, ports[name], model, requests, concurrency, mode)
            after = procs[name].cpu_us() if name in procs else 0
            return result, (after - before) / result[per]

        for name in order:
            measure(name, "requests", "whole", 2000, 32, "whole")
            measure(name, "frames", "burst", 50, 32, "stream")
        for turn in range(args.rounds):
            print(f"round {turn + 1} of {args.rounds}", file=sys.stderr)
            for name in order:
                result, cpu = measure(name, "requests", "whole", args.requests, 32, "whole")
                note(name, "whole_cpu", cpu)
                result, _ = measure(name, "requests", "whole", 1000, 1, "whole")
                note(name, "whole_p50", result["total_p50"])
                note(name, "whole_p99", result["total_p99"])
                result, cpu = measure(name, "frames", "burst", args.streams, 32, "stream")
                note(name, "burst_cpu", cpu)
                idle = procs[name].rss_kb() if name in procs else 0
                running = subprocess.Popen(["taskset", "-c", "0", generator, f"http://127.0.0.1:{ports[name]}/v1", "paced", str(args.paced), str(args.paced), "stream"], stdout=subprocess.PIPE, text=True)
                before = procs[name].cpu_us() if name in procs else 0
                time.sleep(2.5)
                if name in procs:
                    note(name, "rss_per_stream", (procs[name].rss_kb() - idle) / args.paced)
                result = json.loads(running.communicate()[0])
                after = procs[name].cpu_us() if name in procs else 0
                note(name, "paced_cpu", (after - before) / result["frames"])
                note(name, "paced_p50", result["total_p50"] / 1000)
                note(name, "paced_p99", result["total_p99"] / 1000)
        for process in [*procs.values(), mock]:
            process.stop()
    report(table, order)


def report(table, order):
    rows = [
        ("whole_cpu", "1 KB whole answer, CPU us per request"),
        ("whole_p50", "1 KB whole answer alone, p50 us"),
        ("whole_p99", "1 KB whole answer alone, p99 us"),
        ("burst_cpu", "300-frame stream at full speed, CPU us per frame"),
        ("paced_cpu", "1,000 paced streams, CPU us per frame"),
        ("paced_p50", "1,000 paced streams, whole stream p50 ms"),
        ("paced_p99", "1,000 paced streams, whole stream p99 ms"),
    ]
    print("| what | " + " | ".join(order) + " | callgate / nginx |")
    print("|---|" + "---|" * (len(order) + 1))
    for key, title in rows:
        cells = [shown(table[name][key]) if key in table[name] and (name != "direct" or "cpu" not in key and "rss" not in key) else "" for name in order]
        ratios = [a / b for a, b in zip(table["callgate"][key], table["nginx"][key]) if b > 0]
        print(f"| {title} | " + " | ".join(cells) + f" | {shown(ratios) if ratios else 'n/a'} |")
    # Memory is given back late or never: the first time that so many streams run tells what they need.
    first = {name: table[name]["rss_per_stream"][0] for name in order if "rss_per_stream" in table[name]}
    cells = [f"{first[name]:.1f}" if name in first else "" for name in order]
    print("| memory per active stream, first round, KB | " + " | ".join(cells) + f" | {first['callgate'] / first['nginx']:.2f} |")


if __name__ == "__main__":
    main()
