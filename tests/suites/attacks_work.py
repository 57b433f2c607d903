"""Attacks on the gateway's time: requests, answers and connections that make much work of little."""
import asyncio
import json
import socket
import struct
import time
import zlib

from attack_world import MIB, again_and_again, chat, exchange, get, request, status_of

CHAT = "/v1/chat/completions"
SECONDS = 8


def as_body(value):
    return json.dumps(value).encode()


def ask(**more):
    return {"model": "short", "messages": [{"role": "user", "content": "x"}], **more}


def told(found):
    return "statuses " + ", ".join(f"{status}: {count}" for status, count in sorted(found.items()))


async def long_names(gateway):
    """Models with names of 600 KB, where there are 69 to choose from."""
    found = await again_and_again(gateway.port, [request(as_body(ask(model="a" * 600_000)))], SECONDS)
    return told(found), set(found) == {404}


async def long_words(gateway):
    """Other words of 600 KB where something shorter is expected."""
    word = "a" * 600_000
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
    bodies = [
        ask(callgate={"tools": [word]}), ask(callgate={word: 1}), ask(callgate={"memory": word}),
        ask(tool_choice=word), ask(tools=[tool], tool_choice={"type": "function", "function": {"name": word}}),
        ask(tools=[{"type": word}]), ask(reasoning_effort=word), ask(**{word: 1}), {"model": "short", "messages": [{"role": word}]},
        ask(response_format={"type": word}), ask(stop=[word] * 4), ask(user=word), ask(metadata={word: word}),
    ]
    requests = [request(as_body(body)) for body in bodies]
    responses = [{"model": "short", "input": [{"type": word}]}, {"model": "short", "input": "x", "include": [word]},
                 {"model": "short", "input": "x", "previous_response_id": word}, {"model": "short", "input": "x", "tools": [{"type": word}]}]
    requests += [request(as_body(body), path="/v1/responses") for body in responses]
    blocks = [{"model": "short", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": word}]}]}]
    requests += [request(as_body(body), path="/v1/messages") for body in blocks]
    parts = {"contents": [{"role": "user", "parts": [{word: 1}]}]}
    requests += [request(as_body(parts), path="/v1beta/models/short:generateContent")]
    short = "a" * 30_000
    for name in ["dialect", "conversation", "session", "output", "timing", "capture", "unknown"]:
        requests.append(request(as_body(ask()), headers=f"x-callgate-{name}: {short}\r\n"))
    requests += [get(f"/v1/rooms/{short}"), get(f"/v1/models/{short}"), get(f"/{short}"), get(f"/v1/requests?{short}={short}")]
    found = await again_and_again(gateway.port, requests, SECONDS)
    return told(found), all(status < 500 for status in found)


def history(count):
    messages = []
    for i in range(count):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{i}", "content": "noon"})
    return messages


async def tool_results(gateway):
    """20,000 calls and their results, for an upstream that gets them as text, and for the others."""
    bodies = [as_body({"model": model, "messages": history(20_000)}) for model in ["web", "plain"]]
    found = await again_and_again(gateway.port, [request(body) for body in bodies], SECONDS, 4)
    return told(found), all(status in (0, 200, 502, 503, 504) for status in found)


async def many_parts(gateway):
    """Conversations of 40,000 parts, in each protocol."""
    n = 40_000
    text = {"type": "text", "text": "x"}
    requests = [
        request(as_body({"model": "short", "messages": [{"role": "user", "content": [text] * n}]})),
        request(as_body({"model": "short", "max_tokens": 9, "messages": [{"role": "user", "content": [text] * n}]}), path="/v1/messages"),
        request(as_body({"model": "short", "input": [{"role": "user", "content": "x"}] * n, "store": False}), path="/v1/responses"),
        request(as_body({"contents": [{"role": "user", "parts": [{"text": "x"}] * n}]}), path="/v1beta/models/short:generateContent"),
        request(as_body({"model": "short", "stream": False, "messages": [{"role": "user", "content": "x"}] * n}), path="/api/chat"),
    ]
    found = await again_and_again(gateway.port, requests, SECONDS, 4)
    return told(found), set(found) <= {200}


async def wide_bodies(gateway):
    """Bodies of 16 MB with a million members, and nested a hundred deep."""
    wide = b'{"model":"short","messages":[{"role":"user","content":"x"}],%s}' % b",".join(b'"k%d":1' % i for i in range(1_000_000))
    deep = b'{"model":"short","messages":[{"role":"user","content":"x"}],"k":%s%s}' % (b"[" * 100, b"]" * 100)
    found = await again_and_again(gateway.port, [request(wide), request(deep)], SECONDS, 4)
    return told(found), set(found) <= {200, 400, 503}


async def false_starts(gateway):
    """32 MB of beginnings of calls that are none, to four clients."""
    sizes = []

    async def one():
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=MIB)
        writer.write(request(chat("starts", True)))
        size = 0
        while piece := await reader.read(MIB):
            size += len(piece)
        sizes.append(size / MIB)
        writer.close()

    await asyncio.gather(*(one() for _ in range(4)))
    return f"{max(sizes):.0f} MB out for 32 MB in", max(sizes) < 64


async def many_frames(gateway):
    """A million frames of one letter, to four clients."""
    found = await asyncio.gather(*(status_of(gateway.port, request(chat("frames", True)), 120) for _ in range(4)))
    return f"statuses {found}", set(found) == {200}


async def log_questions(gateway):
    """Searches of the request log and of usage that are meant to be expensive."""
    star = "%25".join("a" * 200)
    paths = [f"/v1/requests?q={star}", "/v1/requests?q=" + "a+OR+" * 300 + "b", "/v1/requests?limit=1000",
             "/v1/requests?model=" + "%2A" * 500, "/v1/usage?group=key,model", "/v1/requests?" + "&".join(f"q{i}=x" for i in range(3000)),
             "/v1/conversations", "/v1/requests?q=" + "%22" * 2000]
    found = await again_and_again(gateway.port, [get(path) for path in paths], SECONDS)
    return told(found), all(status < 500 or status == 503 for status in found)


async def inspector_questions(gateway):
    """Texts for all dialects, and turns of 4 MB to be replayed byte by byte."""
    turn = b"".join(b'data: {"choices":[{"index":0,"delta":{"content":"<tool_call>{"}}]}\n\n' for _ in range(60_000))
    requests = [
        request(as_body({"text": "<tool_call>" * 5_000, "split": "byte"}), path="/v1/parse"),
        request(as_body({"bytes": turn.decode(), "wire": "openai_chat", "split": "byte"}), path="/v1/replay"),
    ]
    found = await again_and_again(gateway.port, requests, SECONDS, 4)
    return told(found), all(status < 500 or status == 503 for status in found)


async def resets(gateway):
    """20,000 connections that are reset at once."""
    for _ in range(20_000):
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.connect(("127.0.0.1", gateway.port))
            connection.send(b"GET / HTTP/1.1\r\n")
        if _ % 100 == 0:
            await asyncio.sleep(0)
    return "20,000 resets", True


async def half_heads(gateway):
    """3,000 connections that send their head byte by byte."""
    writers = [(await asyncio.open_connection("127.0.0.1", gateway.port))[1] for _ in range(3000)]
    for _ in range(8):
        for writer in writers:
            if not writer.is_closing():
                writer.write(b"G")
        await asyncio.sleep(1)
    for writer in writers:
        writer.transport.abort()
    return "8 s", True


async def web_socket_floods(gateway):
    """A million pings, and messages that are large when they are inflated."""
    key = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    more = "sec-websocket-extensions: permessage-deflate\r\n"
    head = f"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n{key}{more}\r\n".encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = (packer.compress(b"x" * 30_000_000) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]
    bombs = (b"\xc1\xff" + len(bomb).to_bytes(8, "big") + b"\0\0\0\0" + bomb) * 10
    pings = b"\x89\x80\0\0\0\0" * 250_000

    async def one(data):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=MIB)
        writer.write(head + data + b"\x88\x80\0\0\0\0")
        got = 0
        try:
            while piece := await asyncio.wait_for(reader.read(MIB), 20):
                got += len(piece)
        except (ConnectionError, asyncio.TimeoutError):
            pass
        writer.close()
        return got

    got = await asyncio.gather(*(one(data) for data in [pings, bombs] * 4))
    return f"{sum(got) // 1024} KiB came back", True


async def reloads(gateway):
    """A reload every 10 ms."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        gateway.reload()
        await asyncio.sleep(0.01)
    answer = await exchange(gateway.port, request(chat("short", False)), 20)
    return answer[:15].decode(), answer.startswith(b"HTTP/1.1 200")


async def nothing(_gateway):
    """For comparison."""
    await asyncio.sleep(SECONDS)
    return "", True


ATTACKS = [nothing, long_names, long_words, tool_results, many_parts, wide_bodies, false_starts, many_frames, log_questions,
           inspector_questions, resets, half_heads, web_socket_floods, reloads]
MORE = {}
NOBODY = '[[upstream]]\nname = "{0}"\nwire = "{1}"\nurl = "http://127.0.0.1:9"\n[[model]]\nname = "{0}"\nupstream = "{0}"\nretries = 0\n'
TABLES = {
    long_names: "".join(f'[[model]]\nname = "model-{i}"\nupstream = "good"\n' for i in range(60)),
    tool_results: NOBODY.format("web", "qwen_web") + NOBODY.format("plain", "openai_chat"),
}
