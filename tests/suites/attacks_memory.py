"""Attacks on the gateway's memory: what clients and upstreams send, and what a small request makes of it."""
import asyncio
import json
import time

from attack_world import MIB, chat, exchange, get, request, status_of

BIG = 31_000_000


async def stalled_readers(gateway):
    """1,000 clients that ask for long answers and read nothing."""
    writers = []
    for _ in range(1000):
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(request(chat("long", True)))
        writers.append(writer)
    await gateway.settle(25)
    for writer in writers:
        writer.transport.abort()


async def slow_bodies(gateway):
    """1,000 clients that send a byte of their body now and then."""
    clients = []
    for _ in range(1000):
        clients.append(await asyncio.open_connection("127.0.0.1", gateway.port))
        clients[-1][1].write(request(b"{", 1000))
    end = time.monotonic() + 40

    async def status(reader):
        return int((await reader.read())[9:12] or 0)

    statuses = asyncio.gather(*(status(reader) for reader, _ in clients), return_exceptions=True)
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


async def hold_open(gateway, begin, count=60):
    """`count` connections that send `begin` and then wait, ten at a time. Gives how many were answered with 503."""
    refused = 0

    async def send():
        nonlocal refused
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        try:
            writer.write(begin)
            await asyncio.wait_for(writer.drain(), 30)
            answer = await asyncio.wait_for(reader.read(12), 12)
            refused += answer == b"HTTP/1.1 503"
        except (ConnectionError, asyncio.TimeoutError):
            pass
        return writer

    writers = []
    for _ in range(0, count, 10):
        writers += await asyncio.gather(*(send() for _ in range(10)))
    for writer in writers:
        writer.transport.abort()
    await asyncio.sleep(1)
    return refused


async def large_bodies(gateway):
    """60 bodies of 31 MB without their last byte. Afterwards one that is whole is served."""
    body = chat("short", True, BIG)
    refused = await hold_open(gateway, request(body[:-1], len(body)))
    answer = await exchange(gateway.port, request(body), 60)
    return f"{refused} of 60 answered with 503, then {answer[9:12].decode()}", refused > 0 and answer[9:12] == b"200"


async def large_messages(gateway):
    """60 messages of 31 MB on WebSockets, each without its last byte."""
    key = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    head = f"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n{key}\r\n"
    payload = b"\x81\xff" + BIG.to_bytes(8, "big") + b"\0\0\0\0" + b"x" * (BIG - 1)
    closed = 0
    writers = []

    async def send():
        nonlocal closed
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writers.append(writer)
        try:
            writer.write(head.encode() + payload)
            await asyncio.wait_for(writer.drain(), 30)
            while piece := await asyncio.wait_for(reader.read(4096), 8):
                closed += b"no memory" in piece
        except (ConnectionError, asyncio.TimeoutError):
            pass

    for _ in range(6):
        await asyncio.gather(*(send() for _ in range(10)))
    for writer in writers:
        writer.transport.abort()
    return f"{closed} of 60 closed with 1013", closed > 0


async def passed_through(gateway):
    """40 whole bodies of 31 MB for an endpoint that the gateway only relays, to an upstream that does not answer."""
    body = json.dumps({"model": "never", "input": "x" * BIG}).encode()
    found = await asyncio.gather(*(status_of(gateway.port, request(body, path="/v1/embeddings")) for _ in range(40)))
    refused = sum(1 for status in found if status == 503)
    return f"{refused} of 40 answered with 503", refused > 0


async def counted_tokens(gateway):
    """40 bodies of 31 MB whose tokens are to be counted."""
    body = chat("short", False, BIG)
    path = "/v1/messages/count_tokens"
    found = await asyncio.gather(*(status_of(gateway.port, request(body, path=path)) for _ in range(40)))
    counts = {status: found.count(status) for status in sorted(set(found))}
    return f"statuses {counts}", counts.get(200, 0) > 0


async def giant_answer(gateway):
    """1 GB of text from the upstream behind a request that does not stream."""
    answer = await exchange(gateway.port, request(chat("giant", False)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith((b"HTTP/1.1 502", b"HTTP/1.1 503"))


async def many_calls(gateway):
    """A turn with 100,000 calls of a tool that the gateway runs."""
    answer = await exchange(gateway.port, request(chat("calls", True)), 240)
    return answer[:40].split(b"\r\n")[0].decode(), answer.startswith(b"HTTP/1.1 ")


async def in_background(gateway):
    """60 answers of 20 MB that run in the background."""
    body = json.dumps({"model": "half", "input": "hi", "background": True}).encode()
    found = await asyncio.gather(*(exchange(gateway.port, request(body, path="/v1/responses"), 60) for _ in range(60)))
    begun = sum(1 for answer in found if answer.startswith(b"HTTP/1.1 200"))
    await gateway.settle(30)
    return f"{begun} of 60 begun", begun > 0


async def stalled_followers(gateway):
    """200 clients that ask for the stream of a stored response of 20 MB, or for the response, and read nothing."""
    body = json.dumps({"model": "half", "input": "hi", "background": True}).encode()
    begun = await exchange(gateway.port, request(body, path="/v1/responses"), 60)
    place = "/v1/responses/resp_" + begun.partition(b'"resp_')[2].partition(b'"')[0].decode()
    for _ in range(100):
        answer = await exchange(gateway.port, get(place), 60)
        if b'"status":"completed"' in answer:
            break
        await asyncio.sleep(0.2)
    writers = []
    for i in range(200):
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(get(place + ("?stream=true" if i % 2 else "")))
        writers.append(writer)
    await gateway.settle(15)
    for writer in writers:
        writer.transport.abort()
    return f"{len(answer) // MIB} MB each", len(answer) > 15 * MIB


async def references(gateway):
    """A small request that refers 5,000 times to an item of a megabyte."""
    body = json.dumps({"model": "short", "input": [{"role": "user", "content": "x" * MIB}]}).encode()
    first = await exchange(gateway.port, request(body, path="/v1/responses"), 60)
    place = first.partition(b'"resp_')[2].partition(b'"')[0].decode()
    item = {"type": "item_reference", "id": f"item_{place}_i0"}
    body = json.dumps({"model": "short", "input": [item] * 5000}).encode()
    found = await asyncio.gather(*(status_of(gateway.port, request(body, path="/v1/responses"), 120) for _ in range(8)))
    return f"statuses {sorted(set(found))}", set(found) <= {413, 503}


async def inflated(gateway):
    """60 bodies that are 30 MB when they are decompressed."""
    import gzip
    body = gzip.compress(chat("never", True, 30_000_000), 6)
    data = request(body, headers="content-encoding: gzip\r\n")
    found = await asyncio.gather(*(status_of(gateway.port, data) for _ in range(60)))
    refused = sum(1 for status in found if status == 503)
    return f"{len(body) // 1024} KiB each, {refused} of 60 answered with 503", refused > 0


ATTACKS = [stalled_readers, slow_bodies, large_bodies, giant_answer, many_calls,
           large_messages, passed_through, counted_tokens, in_background, stalled_followers, references, inflated]
MORE = {
    slow_bodies: 'limits.body_timeout = "10s"\n',
    # With its usual limits a loop ends after a few calls.
    many_calls: "loop.calls_per_round = 0\nloop.max_calls = 0\nloop.max_calls_per_tool = 0\n",
}
TABLES = {}
