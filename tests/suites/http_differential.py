#!/usr/bin/env python3
"""http_differential.py PATH_TO_CALLGATE [--table]: the same bytes to Callgate, node, nginx, HAProxy and Apache.

Callgate must answer every case as http_cases.py says, whole and byte by byte. nginx, HAProxy and Apache are proxies, once of a
node that answers everything and once of Callgate: there, a later request of somebody else must get its own answer, that is,
no case may leave bytes behind on the connection between the two. --table prints where the others differ.
"""
import concurrent.futures
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from http_cases import CASES, MARKER

REFUSED = {400, 411, 413, 414, 417, 421, 431, 501, 505}
QUIET = 2.0  # seconds of silence after which no more answers are expected
PATIENCE = 20.0

NODE = """
const http = require('http');
const server = http.createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const id = request.headers['x-request-id'];
    if (id) response.setHeader('x-request-id', id);
    response.end('ok');
  });
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Servers:
    def __init__(self, callgate):
        self.folder = tempfile.mkdtemp(prefix="callgate-diff-")
        os.chmod(self.folder, 0o755)
        self.children = []
        self.ports = {}
        self.ports["callgate"] = self.start_callgate(callgate)
        self.ports["node"] = self.start_node()
        for behind in ("node", "callgate"):
            for name, start in (("nginx", self.start_nginx), ("haproxy", self.start_haproxy), ("apache", self.start_apache)):
                self.ports[name if behind == "node" else name + ">callgate"] = start(self.ports[behind])

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def spawn(self, command, **more):
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, **more)
        self.children.append(child)
        return child

    def wait_for(self, port, name):
        end = time.monotonic() + PATIENCE
        while not is_open(port):
            if time.monotonic() > end:
                raise SystemExit("%s does not listen" % name)
            time.sleep(0.02)
        return port

    def start_callgate(self, program):
        config = self.write("callgate.toml", 'listen = "127.0.0.1:0"\nthreads = 1\n[store]\nurl = "none"\n')
        child = self.spawn([program, "serve", "--demo", "--config", config], stdout=subprocess.PIPE)
        for line in child.stdout:
            if line.startswith("listening on http://"):
                return int(line.strip().rsplit(":", 1)[1])
        raise SystemExit("callgate does not start")

    def start_node(self):
        return int(self.spawn(["node", "-e", NODE], stdout=subprocess.PIPE).stdout.readline())

    def start_nginx(self, behind):
        port = free_port()
        home = os.path.join(self.folder, "nginx%d" % port)
        os.makedirs(os.path.join(home, "logs"))
        temporary = "".join("%s_temp_path %s/%s;\n" % (kind, home, kind) for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = self.write("nginx%d.conf" % port, """daemon off; worker_processes 1; pid %s/pid; error_log /dev/null; %s
events { worker_connections 512; }
http { access_log off; %s
upstream behind { server 127.0.0.1:%d; keepalive 1; }
server { listen 127.0.0.1:%d; location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; } } }
""" % (home, "user root;" if os.getuid() == 0 else "", temporary, behind, port))
        self.spawn([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", conf, "-p", home], stdout=subprocess.DEVNULL)
        return self.wait_for(port, "nginx")

    def start_haproxy(self, behind):
        port = free_port()
        conf = self.write("haproxy%d.cfg" % port, """defaults
 mode http
 timeout client 20s
 timeout server 20s
 timeout connect 5s
 http-reuse always
frontend f
 bind 127.0.0.1:%d
 default_backend b
backend b
 server s 127.0.0.1:%d
""" % (port, behind))
        self.spawn([shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin"), "-q", "-f", conf], stdout=subprocess.DEVNULL)
        return self.wait_for(port, "haproxy")

    def start_apache(self, behind):
        port = free_port()
        modules = "/usr/lib/apache2/modules"
        load = "".join("LoadModule %s_module %s/mod_%s.so\n" % (name, modules, name)
                       for name in ("mpm_event", "authz_core", "proxy", "proxy_http"))
        conf = self.write("apache%d.conf" % port, """%sServerRoot %s
ServerName localhost
%s
Listen 127.0.0.1:%d
PidFile %s/apache%d.pid
DefaultRuntimeDir %s
Mutex file:%s
ErrorLog /dev/null
ProxyPass / http://127.0.0.1:%d/ keepalive=On
""" % (load, self.folder, "User www-data\nGroup www-data" if os.getuid() == 0 else "", port, self.folder, port, self.folder, self.folder,
       behind))
        self.spawn([shutil.which("apache2", path=os.environ["PATH"] + ":/usr/sbin"), "-f", conf, "-D", "FOREGROUND"], stdout=subprocess.DEVNULL)
        return self.wait_for(port, "apache")

    def stop(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            child.wait(timeout=PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.children[0].returncode != 0:
            raise SystemExit("callgate ended with %d" % self.children[0].returncode)


def read_all(connection):
    data = b""
    connection.settimeout(PATIENCE)
    try:
        while True:
            got = connection.recv(65536)
            if not got:
                break
            data += got
            connection.settimeout(QUIET)
    except OSError:
        pass
    return data


def split_answers(data):
    """Heads of the answers, by their own framing."""
    while data.startswith(b"HTTP/1."):
        head, _, data = data.partition(b"\r\n\r\n")
        yield head
        length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
        if length:
            data = data[int(length[1]):]
        elif re.search(rb"(?i)\ntransfer-encoding: *chunked", head):
            data = data.partition(b"0\r\n\r\n")[2]
        elif not re.match(rb"HTTP/1.. (1..|204|304) ", head):
            return


def read_answers(connection):
    """What came until the peer closed or fell silent: a letter for each answer, and the ids that they name.

    Callgate names the id of every request that it has seen, so an error with an id is the answer to a request.
    """
    data = read_all(connection)
    letters, ids = "", []
    for head in split_answers(data):
        status = int(head[9:12])
        if status < 200:
            continue
        named = re.search(rb"(?i)\nx-request-id: ([^\r\n]+)", head)
        letters += "R" if status in REFUSED and not named else "A"
        ids.append(named[1].decode() if named else "")
    if data and not letters:
        letters = "A"  # HTTP/0.9: an answer without a head
    return letters, ids


def ask(port, data, piece=0):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for at in range(0, len(data), piece or len(data)):
                connection.sendall(data[at:at + (piece or len(data))])
        except OSError:
            pass
        return read_answers(connection)


def poisoned(port):
    """Whether somebody else's request gets another answer than its own."""
    for number in range(2):
        name = "own-%d-%d" % (os.getpid(), number)
        _, ids = ask(port, MARKER.replace(b"marker", name.encode()))
        if ids != [name]:
            return True
    return False


def main():
    servers = Servers(sys.argv[1])
    names = ["callgate", "node", "nginx", "haproxy", "apache"]
    wrong, rows, desyncs = [], [], 0
    proxies = ["nginx>callgate", "haproxy>callgate", "apache>callgate"]

    def run(case):
        name, data, wanted, why = case
        got = {each: ask(servers.ports[each], data + MARKER)[0] for each in names}
        slowly = ask(servers.ports["callgate"], data + MARKER, 1)[0]
        faults = []
        if got["callgate"] not in wanted.split("|"):
            faults.append("%s: %s, expected %s" % (name, got["callgate"] or "nothing", wanted))
        # A body that turns out wrong after its request began is refused by the answer to that request.
        if len(slowly) != len(got["callgate"]):
            faults.append("%s: %s whole, %s byte by byte" % (name, got["callgate"], slowly))
        return (name, got, why), faults

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for row, faults in pool.map(run, CASES):
            wrong += faults
            if any(row[1][each] != row[1]["callgate"] for each in names):
                rows.append(row)
    # One after the other: whoever finds the connection spoilt must know by whom.
    for name, data, _, _ in CASES:
        for proxy in proxies:
            with socket.create_connection(("127.0.0.1", servers.ports[proxy]), timeout=PATIENCE) as connection:
                connection.sendall(data + MARKER)
                connection.shutdown(socket.SHUT_WR)
                read_all(connection)
            if poisoned(servers.ports[proxy]):
                desyncs += 1
                wrong.append("%s: a request after it through %s got another's answer" % (name, proxy))
    servers.stop()
    unexplained = [name for name, _, why in rows if not why]
    if "--table" in sys.argv:
        print("| case | " + " | ".join(names) + " | why |\n|---|---|---|---|---|---|---|")
        for name, got, why in rows:
            print("| `%s` | %s | %s |" % (name, " | ".join(got[each] or "-" for each in names), why))
    print("http: %d cases x 5 servers, %d as expected, %d where another server differs, %d desyncs behind 3 proxies"
          % (len(CASES), len(CASES) - len({line.split(":")[0] for line in wrong}), len(rows), desyncs))
    for line in wrong:
        print("  " + line)
    if unexplained:
        print("  not explained: " + " ".join(unexplained))
    return 1 if wrong or unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
