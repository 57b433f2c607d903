#!/usr/bin/env python3
"""attack.py PATH_TO_CALLGATE [NAME...]: attacks a gateway with limits.memory = "512MiB" through its clients and upstreams.

Each attack must leave the process below 576 MiB while another client is served. How long /livez takes meanwhile is
reported; with --strict its p99 must be below 50 ms. Loopback only; a few minutes in all.
"""
import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
MEMORY = 512 * MIB
PEAK = 576 * MIB
MODELS = ["short", "long", "giant", "calls"]


def frame(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


END = frame({}, "stop") + b"data: [DONE]\n\n"


def pieces(model):
    """What the model server says, as pieces of a stream."""
    if model == "short":
        yield frame({"content": "Hello"}) + END
    elif model == "long":  # 8 MB of text for clients that do not read
        piece = frame({"content": "word " * 3200}) * 4
        for _ in range(128):
            yield piece
        yield END
    elif model == "giant":  # 1 GB of text
        piece = frame({"content": "word " * 3200}) * 64
        for _ in range(1024):
            yield piece
        yield END
    elif model == "calls":  # 100,000 calls in one turn
        for first in range(0, 100_000, 500):
            calls = []
            for i in range(first, first + 500):
                call = {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
                calls.append(frame({"tool_calls": [call]}))
            yield b"".join(calls)
        yield frame({}, "tool_calls") + b"data: [DONE]\n\n"


async def serve_model(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length"))
        body = json.loads(await reader.readexactly(length))
        # The loop asks again with the results: then it gets a short answer.
        answered = any(m.get("role") == "tool" for m in body["messages"])
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in pieces("short" if answered else body["model"]):
            writer.write(piece)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def model_server():
    server = await asyncio.start_server(serve_model, "127.0.0.1", 0, limit=MIB)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Gateway:
    def __init__(self, program, folder, upstream):
        config = f'listen = "127.0.0.1:0"\nlimits.memory = "512MiB"\nstore.url = "sqlite:{folder}/log.db"\n'
        config += f'store.journal = "{folder}/journal"\nlog.level = "error"\nlimits.body_timeout = "10s"\n'
        config += f'[[upstream]]\nname = "u"\nurl = "http://127.0.0.1:{upstream}"\n'
        config += '[[tool]]\nname = "clock"\nkind = "builtin"\nbuiltin = "time"\n'
        for model in MODELS:
            loop = "loop = true\n" if model == "calls" else ""
            config += f'[[model]]\nname = "{model}"\nupstream = "u"\nretries = 0\n{loop}'
        path = f"{folder}/callgate.toml"
        with open(path, "w") as file:
            file.write(config)
        self.process = subprocess.Popen([program, "serve", "--config", path], stdout=subprocess.PIPE, text=True, cwd=folder)
        line = self.process.stdout.readline()
        if "listening on" not in line:
            raise SystemExit(f"the gateway did not start: {line}")
        self.port = int(line.rsplit(":", 1)[1])
        self.status = f"/proc/{self.process.pid}/status"

    def value(self, name):
        with open(self.status) as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        return 0

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def request(body, length=None, path="/v1/chat/completions"):
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"
    return (head + f"content-length: {len(body) if length is None else length}\r\n\r\n").encode() + body


def chat(model, stream, size=0):
    content = "x" * max(1, size)
    return json.dumps({"model": model, "stream": stream, "messages": [{"role": "user", "content": content}]}).encode()


async def exchange(port, data, patience):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(), patience)
    finally:
        writer.close()


async def drain(reader):
    """Reads to the end and gives the status."""
    first = b""
    while piece := await reader.read(MIB):
        first = (first + piece)[:64]
    return int(first[9:12] or 0)


class Bystander:
    """Another client: asks /livez on fresh connections, and for a short answer."""

    def __init__(self, port):
        self.port = port
        self.times = []
        self.served = 0
        self.refused = []
        self.stop = asyncio.Event()

    async def live(self):
        while not self.stop.is_set():
            begin = time.perf_counter()
            answer = await exchange(self.port, b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", 60)
            self.times.append(time.perf_counter() - begin)
            if not answer.startswith(b"HTTP/1.1 200"):
                self.refused.append(answer[:80])
            await asyncio.sleep(0.02)

    async def ask(self):
        while not self.stop.is_set():
            answer = await exchange(self.port, request(chat("short", True)), 60)
            if answer.startswith(b"HTTP/1.1 200") and b"[DONE]" in answer:
                self.served += 1
            else:
                self.refused.append(answer[:80])
            await asyncio.sleep(0.2)


async def stalled_readers(gateway):
    """1,000 clients that ask for long answers and read nothing."""
    writers = []
    for _ in range(1000):
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(request(chat("long", True)))
        writers.append(writer)
    await settle(gateway, 25)
    for writer in writers:
        writer.transport.abort()


async def slow_bodies(gateway):
    """1,000 clients that send a byte of their body now and then."""
    clients = []
    for _ in range(1000):
        clients.append(await asyncio.open_connection("127.0.0.1", gateway.port))
        clients[-1][1].write(request(b"{", 1000))
    end = time.monotonic() + 40
    statuses = asyncio.gather(*(drain(reader) for reader, _ in clients), return_exceptions=True)
    while time.monotonic() < end and not statuses.done():
        for _, writer in clients:
            if not writer.is_closing():
                writer.write(b" ")
        await asyncio.wait([statuses], timeout=2)
    found = await asyncio.wait_for(statuses, 20)
    for _, writer in clients:
        writer.close()
    cut = sum(1 for status in found if status == 408)
    return f"{cut} of 1000 answered with 408", cut >= 990


async def large_bodies(gateway):
    """60 bodies of 31 MB without their last bytes, then with them."""
    body = chat("short", True, 31_000_000)
    clients = []

    async def send():
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        clients.append((reader, writer))
        writer.write(request(body[:-1], len(body)))
        try:
            await asyncio.wait_for(writer.drain(), 30)
        except (ConnectionError, asyncio.TimeoutError):
            pass

    for _ in range(6):
        await asyncio.gather(*(send() for _ in range(10)))
    await settle(gateway, 5)
    statuses = []
    for reader, writer in clients:
        try:
            writer.write(body[-1:])
            statuses.append(await asyncio.wait_for(drain(reader), 30))
        except (ConnectionError, asyncio.TimeoutError):
            statuses.append(0)
        writer.close()
    refused = sum(1 for status in statuses if status == 503)
    served = sum(1 for status in statuses if status == 200)
    return f"{served} served, {refused} answered with 503, {60 - served - refused} broken off", refused > 0 and served > 0


async def giant_answer(gateway):
    """1 GB of text from the upstream behind a request that does not stream."""
    answer = await exchange(gateway.port, request(chat("giant", False)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith((b"HTTP/1.1 502", b"HTTP/1.1 503"))


async def many_calls(gateway):
    """A turn with 100,000 calls of a tool that the gateway runs."""
    answer = await exchange(gateway.port, request(chat("calls", True)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith(b"HTTP/1.1 ")


ATTACKS = [stalled_readers, slow_bodies, large_bodies, giant_answer, many_calls]


async def settle(gateway, seconds):
    """Waits until the gateway's memory stops growing."""
    end = time.monotonic() + seconds
    last = -1
    while time.monotonic() < end:
        now = gateway.value("VmRSS")
        if now <= last + MIB and time.monotonic() > end - seconds + 5:
            return
        last = now
        await asyncio.sleep(1)


async def run(attack, gateway, strict):
    gateway.forget_peak()
    bystander = Bystander(gateway.port)
    tasks = [asyncio.create_task(bystander.live()), asyncio.create_task(bystander.ask())]
    begin = time.monotonic()
    said, fine = await attack(gateway) or ("", True)
    seconds = time.monotonic() - begin
    bystander.stop.set()
    await asyncio.gather(*tasks)
    peak = gateway.value("VmHWM")
    times = sorted(bystander.times)
    p99 = times[int(len(times) * 0.99)] * 1000
    ok = fine and peak < PEAK and bystander.served > 0 and not bystander.refused and gateway.process.poll() is None
    ok = ok and (not strict or p99 < 50)
    print(
        f"{'ok  ' if ok else 'FAIL'} {attack.__name__:16} {seconds:5.1f} s, peak {peak / MIB:5.0f} MiB, /livez p50 "
        f"{times[len(times) // 2] * 1000:.1f} p99 {p99:.1f} max {times[-1] * 1000:.1f} ms, others served {bystander.served}"
        f"{', refused ' + str(len(bystander.refused)) + ' ' + repr(bystander.refused[0]) if bystander.refused else ''}"
        f"{'; ' + said if said else ''}",
        flush=True,
    )
    return ok


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    model = subprocess.Popen([sys.executable, __file__, "MODEL"], stdout=subprocess.PIPE, text=True)
    failed = 0
    try:
        upstream = int(model.stdout.readline())
        for attack in ATTACKS:
            if options.names and attack.__name__ not in options.names:
                continue
            with tempfile.TemporaryDirectory(prefix="callgate-attack.") as folder:
                gateway = Gateway(os.path.abspath(options.program), folder, upstream)
                try:
                    failed += not await run(attack, gateway, options.strict)
                finally:
                    gateway.stop()
    finally:
        model.kill()
        model.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["MODEL"]:
        asyncio.run(model_server())
    else:
        sys.exit(asyncio.run(main()))
