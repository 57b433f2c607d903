"""What the benchmarks share: processes on a core of their own, the proxies beside each other, the load, and how values are shown."""
import glob
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NGINX_CONF = """
daemon off; master_process off; worker_processes 1; pid {dir}/nginx-{port}.pid; error_log {dir}/nginx.log;
worker_rlimit_nofile 65536;
events {{ worker_connections 32768; }}
http {{
  access_log off; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
  upstream behind {{ server 127.0.0.1:{behind}; keepalive 8192; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} reuseport; keepalive_requests 1000000000; tcp_nodelay on; client_max_body_size 64m;
    location / {{ proxy_pass {scheme}://behind; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 300s; }}
  }}
}}
"""
HAPROXY_CONF = """
global
  maxconn 32768
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  http-reuse always
listen bench
  bind 127.0.0.1:{port}
  server behind 127.0.0.1:{behind} {more}
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
PACED = """
[[upstream]]
name = "paced"
url = "{scheme}://127.0.0.1:{port}/v1"
max_idle_connections = 10000
{more}
[[model]]
name = "paced"
upstream = "paced"
"""
MODELS = "".join(f'[[model]]\nname = "{name}"\nupstream = "mock"\n' for name in ("whole", "burst"))


def allow_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def find_program(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")


class Process:
    def __init__(self, argv, core, log):
        self.child = subprocess.Popen(["taskset", "-c", str(core)] + argv, stdout=subprocess.PIPE, stderr=log, text=True)
        self.pid = self.child.pid
        self.port = 0

    def wait_ready(self):
        line = self.child.stdout.readline()
        while line and "listening on" not in line:
            line = self.child.stdout.readline()
        if not line:
            sys.exit("a server did not start")
        self.port = int(line.rsplit(":", 1)[1])
        return self.port

    def wait_port(self, port):
        """For one that does not say when it listens."""
        self.port = port
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        sys.exit("a proxy did not start")

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


def run_load(argv):
    out = subprocess.run(argv, capture_output=True, text=True)
    return read_load(argv, out.stdout, out.stderr)


def read_load(argv, stdout, stderr="", may_fail=False):
    if not stdout:
        sys.exit(f"load failed: {stderr}")
    result = json.loads(stdout)
    if result["failed"] and not may_fail:
        sys.exit(f"{result['failed']} requests failed: {' '.join(argv)}")
    return result


def shown(values, digits=2):
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    return f"{statistics.median(values):,.{digits}f} [{min(values):,.{digits}f}-{max(values):,.{digits}f}]"


class Bench:
    """The programs, and what all proxies are set before: the mock and the paced upstream, on core 0 with the load."""

    def __init__(self, binaries, folder, log):
        self.callgate = os.path.join(binaries, "callgate")
        self.programs = os.path.join(binaries, "bench")
        self.folder, self.log = folder, log
        self.started = []
        self.problems = []
        script = str(HERE / "model.script")
        self.mock = self.start([self.callgate, "mock", "--script", script, "--listen", "127.0.0.1:0"], 0).wait_ready()
        self.paced = self.start([os.path.join(self.programs, "gateway_upstream")], 0).wait_ready()
        self.certificate = os.path.join(folder, "cert.pem")
        key = os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       check=True, stderr=subprocess.DEVNULL)
        self.paced_tls = self.start([os.path.join(self.programs, "gateway_upstream"), self.certificate, key], 0).wait_ready()

    def start(self, argv, core):
        process = Process(argv, core, self.log)
        self.started.append(process)
        return process

    def stop(self):
        for process in reversed(self.started):
            process.stop()

    def path(self, name):
        return os.path.join(self.folder, name)

    def gateway(self, store="none", tls=False, threads=1, core=1):
        more = f'ca_file = "{self.certificate}"' if tls else ""
        paced = PACED.format(scheme="https" if tls else "http", port=self.paced_tls if tls else self.paced, more=more)
        path = self.path(f"callgate-{len(self.started)}.toml")
        config = CONFIG.format(store=store, mock=self.mock).replace("threads = 1", f"threads = {threads}")
        open(path, "w").write(config + MODELS + paced)
        process = self.start([self.callgate, "serve", "--config", path], core)
        process.wait_ready()
        return process

    def nginx(self, behind, tls=False):
        port = free_port()
        path = self.path(f"nginx-{port}.conf")
        open(path, "w").write(NGINX_CONF.format(dir=self.folder, behind=behind, port=port, scheme="https" if tls else "http"))
        return self.start([find_program("nginx"), "-c", path, "-p", self.folder], 1).wait_port(port)

    def haproxy(self, behind, tls=False):
        port = free_port()
        path = self.path(f"haproxy-{port}.conf")
        open(path, "w").write(HAPROXY_CONF.format(port=port, behind=behind, more="ssl verify none" if tls else ""))
        return self.start([find_program("haproxy"), "-f", path], 1).wait_port(port)

    def load_argv(self, port, model, requests, concurrency, mode, path="/v1/chat/completions", body=None):
        generator = os.path.join(self.programs, "gateway_load")
        url = f"http://127.0.0.1:{port}" + ("" if body else "/v1")
        return ["taskset", "-c", "0", generator, url, model, str(requests), str(concurrency), mode, *([path, body] if body else [])]

    def measure(self, process, per, *load):
        """The result of a load and the CPU time of the process per request, or per frame."""
        before = process.cpu_us()
        result = run_load(self.load_argv(process.port, *load))
        return result, (process.cpu_us() - before) / result[per]

    def measure_paced(self, process, streams):
        """Likewise of paced streams, per frame, with the memory that each takes while all run."""
        idle, before = process.rss_kb(), process.cpu_us()
        argv = self.load_argv(process.port, "paced", streams, streams, "stream")
        running = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        time.sleep(3)
        memory = (process.rss_kb() - idle) / streams
        # A machine that is too slow for so many must not end the run.
        result = read_load(argv, running.communicate()[0], may_fail=True)
        if result["failed"]:
            self.problems.append(f"{result['failed']} of {streams} paced streams failed")
        return result, (process.cpu_us() - before) / result["frames"], memory
