"""What an attack has around it: a gateway, model servers, and other clients who measure how they are served meanwhile."""
import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

MIB = 1 << 20
MODELS = ["short", "paced", "long", "giant", "calls", "starts", "frames", "half", "never"]
GOOD = ["short", "paced"]  # of a model server that nobody attacks
PACE = 0.02  # seconds between two frames


def frame(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


END = frame({}, "stop") + b"data: [DONE]\n\n"


def repeated(text, total):
    """`total` bytes of a text in frames of some kilobytes."""
    piece = frame({"content": text * max(1, 16_000 // len(text))}) * 16
    for _ in range(total // len(piece)):
        yield piece
    yield END


def many_calls():
    for first in range(0, 100_000, 500):
        calls = []
        for i in range(first, first + 500):
            call = {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "clock", "arguments": f'{{"i": {i}}}'}}
            calls.append(frame({"tool_calls": [call]}))
        yield b"".join(calls)
    yield frame({}, "tool_calls") + b"data: [DONE]\n\n"


def many_frames():
    for _ in range(1000):
        yield frame({"content": "a"}) * 1000
    yield END


def pieces(model):
    """What the model server says, as pieces of a stream."""
    if model == "short":
        return iter([frame({"content": "Hello"}) + END])
    if model == "long":  # for clients that do not read
        return repeated("word ", 8 * MIB)
    if model == "giant":
        return repeated("word ", 1024 * MIB)
    if model == "half":
        return repeated("word ", 20 * MIB)
    if model == "starts":  # of calls that are none
        return repeated("<tool_cal", 32 * MIB)
    return many_frames() if model == "frames" else many_calls()


async def serve_paced(writer):
    """Each frame has the time at which it was sent."""
    for _ in range(100):
        writer.write(frame({"content": f"{time.monotonic_ns()} "}))
        await writer.drain()
        await asyncio.sleep(PACE)
    writer.write(END)


async def serve_model(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length"))
        body = await reader.readexactly(length)
        known = [model for model in MODELS if b'"model":"%s"' % model.encode() in body.replace(b": ", b":")[: 1 << 16]]
        model = known[0] if known else "never"
        if model == "never":
            await asyncio.sleep(20)
            return
        # The loop asks again with the results: then it gets a short answer.
        answered = model == "calls" and b'"role":"tool"' in body.replace(b": ", b":")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        if model == "paced":
            await serve_paced(writer)
        for piece in pieces("short" if answered else model) if model != "paced" else ():
            writer.write(piece)
            await writer.drain()
        await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def model_server():
    server = await asyncio.start_server(serve_model, "127.0.0.1", 0, limit=MIB, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Gateway:
    """`callgate serve` in a folder of its own. `more` goes in front of the tables of its configuration, `tables` behind."""

    def __init__(self, program, folder, upstreams, more="", tables=""):
        config = f'listen = "127.0.0.1:0"\nlimits.memory = "512MiB"\nstore.url = "sqlite:{folder}/log.db"\n'
        config += f'store.journal = "{folder}/journal"\nlog.level = "error"\nmcp = true\n' + more
        for name, port in zip(["bad", "good"], upstreams):
            config += f'[[upstream]]\nname = "{name}"\nurl = "http://127.0.0.1:{port}"\npassthrough = true\n'
        config += '[[tool]]\nname = "clock"\nkind = "builtin"\nbuiltin = "time"\n'
        for model in MODELS:
            loop = "loop = true\n" if model == "calls" else ""
            upstream = "good" if model in GOOD else "bad"
            dialect = 'dialect = "auto"\n' if model == "starts" else ""
            config += f'[[model]]\nname = "{model}"\nupstream = "{upstream}"\nretries = 0\n{loop}{dialect}'
        path = f"{folder}/callgate.toml"
        with open(path, "w") as file:
            file.write(config + tables)
        self.process = subprocess.Popen([program, "serve", "--config", path], stdout=subprocess.PIPE, text=True, cwd=folder)
        line = self.process.stdout.readline()
        if "listening on" not in line:
            raise SystemExit(f"the gateway did not start: {line}")
        self.port = int(line.rsplit(":", 1)[1])

    def value(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        return 0

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    async def settle(self, seconds):
        """Waits until its memory stops growing."""
        end = time.monotonic() + seconds
        still = 0
        last = -1
        while time.monotonic() < end and still < 5:
            now = self.value("VmRSS")
            still = still + 1 if now <= last + MIB else 0
            last = now
            await asyncio.sleep(1)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def request(body, length=None, path="/v1/chat/completions", headers=""):
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}"
    return (head + f"content-length: {len(body) if length is None else length}\r\n\r\n").encode() + body


def get(path):
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()


def chat(model, stream, size=0):
    content = "x" * max(1, size)
    return json.dumps({"model": model, "stream": stream, "messages": [{"role": "user", "content": content}]}).encode()


async def exchange(port, data, patience):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MIB)
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(), patience)
    finally:
        writer.close()


async def status_of(port, data, patience=60):
    """The status of an answer that is read to its end; 0: the connection broke."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MIB)
    except ConnectionError:
        return 0
    try:
        writer.write(data)
        first = b""
        while piece := await asyncio.wait_for(reader.read(MIB), patience):
            first = (first + piece)[:64]
        return int(first[9:12] or 0)
    except (ConnectionError, asyncio.TimeoutError):
        return 0
    finally:
        writer.close()


async def again_and_again(port, requests, seconds, at_once=8):
    """Sends them by turns, `at_once` at a time. Gives how often each status came."""
    found = {}
    end = time.monotonic() + seconds
    turn = iter(range(1 << 30))

    async def one():
        while time.monotonic() < end:
            status = await status_of(port, requests[next(turn) % len(requests)])
            found[status] = found.get(status, 0) + 1

    await asyncio.gather(*(one() for _ in range(at_once)))
    return found


# Other clients, each in a process of its own, until their standard input ends.


def ask_once(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def is_over(wait=0.0):
    return bool(select.select([sys.stdin], [], [], wait)[0])


def probe(port):
    """Asks /livez on fresh connections, and for short answers."""
    found = {"times": [], "served": 0, "refused": []}
    while not is_over(PACE):
        begin = time.perf_counter()
        answer = ask_once(port, get("/livez"))
        found["times"].append((time.perf_counter() - begin) * 1000)
        if not answer.startswith(b"HTTP/1.1 200"):
            found["refused"].append(answer[:80].decode())
        if len(found["times"]) % 10 != 1:
            continue
        answer = ask_once(port, request(chat("short", True)))
        if answer.startswith(b"HTTP/1.1 200") and b"[DONE]" in answer:
            found["served"] += 1
        else:
            found["refused"].append(answer[:80].decode())
    print(json.dumps(found))


def listen(port):
    """Follows paced streams: how long each frame was on its way from the model server."""
    found = {"times": [], "served": 0, "refused": []}
    while not is_over():
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(request(chat("paced", True)))
            rest = answer = b""
            while piece := connection.recv(65536):
                now = time.monotonic_ns()
                answer += piece
                *whole, rest = (rest + piece).split(b"\n\n")
                for part in whole:
                    stamp = part.partition(b'"content":"')[2].partition(b" ")[0]
                    if stamp.isdigit():
                        found["times"].append((now - int(stamp)) / 1e6)
        if answer.startswith(b"HTTP/1.1 200") and b"[DONE]" in answer:
            found["served"] += 1
        else:
            found["refused"].append(answer[:80].decode())
    print(json.dumps(found))


class Bystander:
    def __init__(self, program, role, port):
        self.process = subprocess.Popen(
            [sys.executable, program, role, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def report(self):
        out = self.process.communicate("")[0]
        return json.loads(out or '{"times": [], "served": 0, "refused": ["it died"]}')


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0


def play_role(arguments):
    """Whether this process is one of the others."""
    if arguments[:1] == ["MODEL"]:
        asyncio.run(model_server())
    elif arguments[:1] == ["PROBE"]:
        probe(int(arguments[1]))
    elif arguments[:1] == ["LISTEN"]:
        listen(int(arguments[1]))
    else:
        return False
    return True
