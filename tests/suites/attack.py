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
import select
import signal
import socket
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
                call = {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "clock", "arguments": f'{{"i": {i}}}'}}
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
    server = await asyncio.start_server(serve_model, "127.0.0.1", 0, limit=MIB, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Gateway:
    def __init__(self, program, folder, upstreams, more):
        config = f'listen = "127.0.0.1:0"\nlimits.memory = "512MiB"\nstore.url = "sqlite:{folder}/log.db"\n'
        config += f'store.journal = "{folder}/journal"\nlog.level = "error"\n'
        config += more
        for name, port in zip(["bad", "good"], upstreams):
            config += f'[[upstream]]\nname = "{name}"\nurl = "http://127.0.0.1:{port}"\n'
        config += '[[tool]]\nname = "clock"\nkind = "builtin"\nbuiltin = "time"\n'
        for model in MODELS:
            loop = "loop = true\n" if model == "calls" else ""
            upstream = "good" if model == "short" else "bad"
            config += f'[[model]]\nname = "{model}"\nupstream = "{upstream}"\nretries = 0\n{loop}'
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


def ask_once(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def bystand(port):
    """Another client, in a process of its own: asks /livez on fresh connections, and for short answers, until stdin ends."""
    live = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    found = {"times": [], "served": 0, "refused": []}
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        begin = time.perf_counter()
        answer = ask_once(port, live)
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
    """60 bodies of 31 MB without their last byte. Afterwards one that is whole is served."""
    body = chat("short", True, 31_000_000)
    refused = 0

    async def send():
        nonlocal refused
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(request(body[:-1], len(body)))
        try:
            await asyncio.wait_for(writer.drain(), 30)
            answer = await asyncio.wait_for(reader.read(12), 15)
            refused += answer == b"HTTP/1.1 503"
        except (ConnectionError, asyncio.TimeoutError):
            pass
        return writer

    waves = [asyncio.gather(*(send() for _ in range(10))) for _ in range(6)]
    for wave in waves:
        for writer in await wave:
            writer.transport.abort()
    await asyncio.sleep(1)
    answer = await exchange(gateway.port, request(body), 60)
    return f"{refused} of 60 answered with 503, then {answer[9:12].decode()}", refused > 0 and answer[9:12] == b"200"


async def giant_answer(gateway):
    """1 GB of text from the upstream behind a request that does not stream."""
    answer = await exchange(gateway.port, request(chat("giant", False)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith((b"HTTP/1.1 502", b"HTTP/1.1 503"))


async def many_calls(gateway):
    """A turn with 100,000 calls of a tool that the gateway runs."""
    answer = await exchange(gateway.port, request(chat("calls", True)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith(b"HTTP/1.1 ")


MORE = {
    slow_bodies: 'limits.body_timeout = "10s"\n',
    # With its usual limits a loop ends after a few calls.
    many_calls: "loop.calls_per_round = 0\nloop.max_calls = 0\nloop.max_calls_per_tool = 0\n",
}
ATTACKS = [stalled_readers, slow_bodies, large_bodies, giant_answer, many_calls]


async def settle(gateway, seconds):
    """Waits until the gateway's memory stops growing."""
    end = time.monotonic() + seconds
    still = 0
    last = -1
    while time.monotonic() < end and still < 5:
        now = gateway.value("VmRSS")
        still = still + 1 if now <= last + MIB else 0
        last = now
        await asyncio.sleep(1)


async def run(attack, gateway, strict):
    gateway.forget_peak()
    arguments = [sys.executable, __file__, "BYSTANDER", str(gateway.port)]
    bystander = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    begin = time.monotonic()
    said, fine = await attack(gateway) or ("", True)
    seconds = time.monotonic() - begin
    found = json.loads(bystander.communicate("")[0] or '{"times": [0], "served": 0, "refused": ["died"]}')
    peak = gateway.value("VmHWM")
    times = sorted(found["times"])
    p99 = times[int(len(times) * 0.99)]
    refused = found["refused"]
    ok = fine and peak < PEAK and found["served"] > 0 and not refused and gateway.process.poll() is None
    ok = ok and (not strict or p99 < 50)
    print(
        f"{'ok  ' if ok else 'FAIL'} {attack.__name__:16} {seconds:5.1f} s, peak {peak / MIB:5.0f} MiB, /livez p50 "
        f"{times[len(times) // 2]:.1f} p99 {p99:.1f} max {times[-1]:.1f} ms of {len(times)}, others served {found['served']}"
        f"{f', refused {len(refused)}: {refused[0]!r}' if refused else ''}{'; ' + said if said else ''}",
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
    command = [sys.executable, __file__, "MODEL"]
    models = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    failed = 0
    try:
        upstreams = [int(model.stdout.readline()) for model in models]
        for attack in ATTACKS:
            if options.names and attack.__name__ not in options.names:
                continue
            with tempfile.TemporaryDirectory(prefix="callgate-attack.") as folder:
                gateway = Gateway(os.path.abspath(options.program), folder, upstreams, MORE.get(attack, ""))
                try:
                    failed += not await run(attack, gateway, options.strict)
                finally:
                    gateway.stop()
    finally:
        for model in models:
            model.kill()
            model.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["MODEL"]:
        asyncio.run(model_server())
    elif sys.argv[1:2] == ["BYSTANDER"]:
        bystand(int(sys.argv[2]))
    else:
        sys.exit(asyncio.run(main()))
