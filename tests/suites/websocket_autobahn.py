#!/usr/bin/env python3
"""websocket_autobahn.py PATH_TO_CALLGATE: the cases of Autobahn's groups 1 to 7 and 10 for a room, over raw sockets.

A room answers what is said in it instead of echoing it, so a case that must be let pass is followed by a ping, and the
connection must give its pong; one that must not is expected to end with the close code that the case allows.
"""
import base64
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
OPEN = "open"
PAUSE = 30.0  # seconds; nothing here takes long


def frame(opcode, payload=b"", fin=True, rsv=0, mask=b"\x01\x02\x03\x04"):
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    size = len(payload)
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += b"\xfe" + struct.pack(">H", size)
    else:
        head += b"\xff" + struct.pack(">Q", size)
    return head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(payload))


class Gateway:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        config = os.path.join(self.folder.name, "callgate.toml")
        with open(config, "w") as file:
            file.write('listen = "127.0.0.1:0"\nthreads = 1\n[store]\nurl = "none"\n'
                       '[rooms]\nmax_frame = "4MiB"\nmax_message = "8MiB"\n')
        self.child = subprocess.Popen([program, "serve", "--demo", "--config", config], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
        for line in self.child.stdout:
            if line.startswith("listening on http://"):
                self.port = int(line.strip().rsplit(":", 1)[1])
                return
        raise SystemExit("the gateway did not start")

    def stop(self):
        self.child.terminate()
        if self.child.wait(timeout=PAUSE) != 0:
            raise SystemExit("the gateway ended with %d" % self.child.returncode)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PAUSE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.send(("GET /v1/rooms/suite HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
                   "sec-websocket-version: 13\r\nsec-websocket-key: %s\r\n\r\n" % key).encode())
        self.held = b""
        while b"\r\n\r\n" not in self.held:
            self.held += self.receive()
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 101"):
            raise SystemExit("no WebSocket: %r" % head[:100])

    def send(self, data, piece=0):
        try:
            for at in range(0, len(data), piece or len(data) or 1):
                self.socket.sendall(data[at:at + (piece or len(data))])
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has said why

    def receive(self):
        try:
            return self.socket.recv(65536)
        except ConnectionResetError:
            return b""

    def take(self, size):
        while len(self.held) < size:
            got = self.receive()
            if not got:
                raise EOFError
            self.held += got
        data, self.held = self.held[:size], self.held[size:]
        return data

    def read_frame(self):
        first, second = self.take(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return first & 15, self.take(size)

    def outcome(self, pongs):
        """OPEN once all pongs came in their order, a close code (1005: none), or 1006: it ended without one."""
        try:
            while pongs:
                opcode, payload = self.read_frame()
                if opcode == CLOSE:
                    return struct.unpack(">H", payload[:2])[0] if payload else 1005
                if opcode == PONG and payload != pongs.pop(0):
                    return "a pong of another ping"
        except EOFError:
            return 1006
        return OPEN


def passes(name, data, piece=0, pongs=()):
    return name, data, piece, list(pongs), {OPEN}


def fails(name, data, codes, piece=0, pongs=()):
    return name, data, piece, list(pongs), set(codes)


def sizes():
    for number, opcode in ((1, TEXT), (2, BINARY)):
        fill = b"*" if opcode == TEXT else b"\xfe"
        for case, size in enumerate((0, 125, 126, 127, 128, 65535, 65536), 1):
            yield passes("1.%d.%d" % (number, case), frame(opcode, fill * size))
        yield passes("1.%d.8" % number, frame(opcode, fill * 65536), 997)


def pings():
    yield passes("2.1", frame(PING), pongs=[b""])
    yield passes("2.2", frame(PING, b"Hello, world!"), pongs=[b"Hello, world!"])
    odd = b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff"
    yield passes("2.3", frame(PING, odd), pongs=[odd])
    yield passes("2.4", frame(PING, b"\xfe" * 125), pongs=[b"\xfe" * 125])
    yield fails("2.5", frame(PING, b"\xfe" * 126), {1002})
    yield passes("2.6", frame(PING, b"\xfe" * 125), 1, [b"\xfe" * 125])
    yield passes("2.7", frame(PONG))
    yield passes("2.8", frame(PONG, b"unsolicited"))
    yield passes("2.9", frame(PONG, b"unsolicited") + frame(PING, b"ping"), pongs=[b"ping"])
    many = [b"payload-%d" % i for i in range(10)]
    yield passes("2.10", b"".join(frame(PING, each) for each in many), pongs=many)
    yield passes("2.11", b"".join(frame(PING, each) for each in many), 1, many)


def reserved():
    yield fails("3.1", frame(TEXT, b"Hello", rsv=1), {1002})
    yield fails("3.2", frame(TEXT, b"Hello") + frame(TEXT, b"Hello", rsv=2), {1002})
    yield fails("3.3", frame(TEXT, b"Hello") + frame(TEXT, b"Hello", rsv=3), {1002})
    yield fails("3.4", frame(TEXT, b"Hello") + frame(TEXT, b"Hello", rsv=4), {1002}, 1)
    yield fails("3.5", frame(BINARY, b"\x00\xff", rsv=5), {1002})
    yield fails("3.6", frame(PING, b"Hello", rsv=6), {1002})
    yield fails("3.7", frame(CLOSE, b"\x03\xe8", rsv=7), {1002})
    for group, opcodes in ((1, range(3, 8)), (2, range(11, 16))):
        for case, opcode in enumerate(opcodes, 1):
            before = frame(TEXT, b"Hello") if case > 2 else b""
            payload = b"" if case % 2 else b"reserved"
            yield fails("4.%d.%d" % (group, case), before + frame(opcode, payload), {1002}, 1 if case > 3 else 0)


def fragments():
    part = lambda text, fin, first=False: frame(TEXT if first else CONTINUATION, text, fin)
    whole = part(b"fragment1", False, True) + part(b"fragment2", True)
    yield fails("5.1", frame(PING, b"one", fin=False) + part(b"two", True), {1002})
    yield fails("5.2", frame(PONG, b"one", fin=False) + part(b"two", True), {1002})
    yield passes("5.3", whole)
    yield passes("5.4", whole, len(frame(TEXT, b"fragment1")))
    yield passes("5.5", whole, 1)
    pinged = part(b"fragment1", False, True) + frame(PING, b"ping") + part(b"fragment2", True)
    for case, piece in (("5.6", 0), ("5.7", len(frame(TEXT, b"fragment1"))), ("5.8", 1)):
        yield passes(case, pinged, piece, [b"ping"])
    stray = part(b"non-continuation payload", True)
    for case, data, piece in (("5.9", stray + frame(TEXT, b"Hello"), 0), ("5.10", stray + frame(TEXT, b"Hello"), 30),
                              ("5.11", stray + frame(TEXT, b"Hello"), 1)):
        yield fails(case, data, {1002}, piece)
    loose = part(b"non-continuation payload", False)
    for case, piece in (("5.12", 0), ("5.13", 30), ("5.14", 1)):
        yield fails(case, loose + frame(TEXT, b"Hello"), {1002}, piece)
    yield fails("5.15", whole + part(b"fragment3", False) + part(b"fragment4", True), {1002})
    yield fails("5.16", (loose + frame(TEXT, b"Hello", fin=False) + stray) * 2, {1002})
    yield fails("5.17", (stray + frame(TEXT, b"Hello", fin=False) + stray) * 2, {1002})
    yield fails("5.18", part(b"fragment1", False, True) + frame(TEXT, b"fragment2"), {1002})
    five = [part(b"fragment%d" % i, False, i == 1) for i in (1, 2)] + [frame(PING, b"pongme 1!")]
    five += [part(b"fragment%d" % i, False) for i in (3, 4)] + [frame(PING, b"pongme 2!"), part(b"fragment5", True)]
    yield passes("5.19", b"".join(five), 0, [b"pongme 1!", b"pongme 2!"])
    yield passes("5.20", b"".join(five), 1, [b"pongme 1!", b"pongme 2!"])


# Sequences that are UTF-8, and such that are not, after Kuhn's and Flaviu's lists.
VALID = [b"", b"Hello-\xc2\xb5@\xc3\x9f\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xa0\xc3\xa1-UTF-8!!", b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5",
         b"\x00", b"\xc2\x80", b"\xe0\xa0\x80", b"\xf0\x90\x80\x80", b"\x7f", b"\xdf\xbf", b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf",
         b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xef\xbf\xbd", b"\xef\xbf\xbe", b"\xf0\x9f\xbf\xbe", b"\xf0\x9f\xbf\xbf",
         b"\xf0\xaf\xbf\xbe", b"\xf3\xbf\xbf\xbf", b"\xf4\x8f\xbf\xbe"]
INVALID = [b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited", b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80",
           b"\xf7\xbf\xbf\xbf", b"\xfb\xbf\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf\xbf", b"\xf4\x90\x80\x80", b"\x80", b"\xbf",
           b"\x80\xbf", b"\x80\xbf\x80", b"\x80\xbf\x80\xbf", b"\x80\xbf\x80\xbf\x80", bytes(range(0x80, 0xc0)),
           b"".join(bytes([c, 0x20]) for c in range(0xc0, 0xe0)), b"".join(bytes([c, 0x20]) for c in range(0xe0, 0xf0)),
           b"".join(bytes([c, 0x20]) for c in range(0xf0, 0xf8)), b"\xc0", b"\xe0\x80", b"\xf0\x80\x80", b"\xf8\x80\x80\x80",
           b"\xfc\x80\x80\x80\x80", b"\xdf", b"\xef\xbf", b"\xf7\xbf\xbf", b"\xfb\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf", b"\xfe",
           b"\xff", b"\xfe\xfe\xff\xff", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x80\x80\x80\xaf",
           b"\xfc\x80\x80\x80\x80\xaf", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xc0\x80", b"\xe0\x80\x80",
           b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xed\xad\xbf", b"\xed\xae\x80", b"\xed\xaf\xbf", b"\xed\xb0\x80", b"\xed\xbe\x80",
           b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80", b"\xed\xaf\xbf\xed\xbf\xbf"]


def texts():
    yield passes("6.1.1", frame(TEXT))
    yield passes("6.1.2", frame(TEXT, b"", False) + frame(CONTINUATION, b"", False) + frame(CONTINUATION))
    yield passes("6.1.3", frame(TEXT, b"", False) + frame(CONTINUATION, b"middle", False) + frame(CONTINUATION))
    long = VALID[1]
    yield passes("6.2.2", frame(TEXT, long[:12], False) + frame(CONTINUATION, long[12:]))
    single = b"".join(frame(CONTINUATION if i else TEXT, long[i:i + 1], False) for i in range(len(long)))
    yield passes("6.2.3", single + frame(CONTINUATION))
    yield passes("6.2.4", frame(TEXT, VALID[2]), 1)
    bad = INVALID[0]
    yield fails("6.3.1", frame(TEXT, bad), {1007})
    yield fails("6.3.2", b"".join(frame(CONTINUATION if i else TEXT, bad[i:i + 1], False) for i in range(len(bad))), {1007})
    # Not to wait for the end of a message whose text is wrong already.
    yield fails("6.4.1", frame(TEXT, b"\xce\xba\xf4\x90\x80\x80", False), {1007})
    yield fails("6.4.2", frame(TEXT, b"\xce\xba\xf4", False) + frame(CONTINUATION, b"\x90", False), {1007})
    yield fails("6.4.3", frame(TEXT, b"\xce\xba" * 100 + b"\xf4\x90\x80\x80" + b"x" * 500)[:-400], {1007})
    for number, each in enumerate(VALID, 1):
        yield passes("6.5.%d" % number, frame(TEXT, each))
        if len(each) > 1:
            yield passes("6.6.%d" % number, frame(TEXT, each[:1], False) + frame(CONTINUATION, each[1:]), 1)
    for number, each in enumerate(INVALID, 1):
        yield fails("6.10.%d" % number, frame(TEXT, each), {1007})
        yield fails("6.11.%d" % number, frame(TEXT, each[:1], False) + frame(CONTINUATION, each[1:]), {1007}, 1)


def closes():
    code = lambda number, reason=b"": struct.pack(">H", number) + reason
    yield fails("7.1.1", frame(TEXT, b"Hello World!") + frame(CLOSE, code(1000)), {1000})
    yield fails("7.1.2", frame(CLOSE, code(1000)) * 2, {1000})
    yield fails("7.1.3", frame(CLOSE, code(1000)) + frame(PING, b"late"), {1000})
    yield fails("7.1.4", frame(CLOSE, code(1000)) + frame(TEXT, b"Hello World!"), {1000})
    yield fails("7.1.5", frame(TEXT, b"fragment1", False) + frame(CLOSE, code(1000)) + frame(CONTINUATION, b"2"), {1000})
    yield fails("7.1.6", frame(TEXT, b"BAsd7&jh23" * 26215) + frame(CLOSE, code(1000)) + frame(PING), {1000})
    yield fails("7.3.1", frame(CLOSE), {1000, 1005})
    yield fails("7.3.2", frame(CLOSE, b"a"), {1002})
    yield fails("7.3.3", frame(CLOSE, code(1000)), {1000})
    yield fails("7.3.4", frame(CLOSE, code(1000, b"Hello World!")), {1000})
    yield fails("7.3.5", frame(CLOSE, code(1000, b"*" * 123)), {1000})
    yield fails("7.3.6", frame(CLOSE, code(1000, b"*" * 124)), {1002})
    yield fails("7.5.1", frame(CLOSE, code(1000, INVALID[0])), {1007})
    for case, number in enumerate((1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999), 1):
        yield fails("7.7.%d" % case, frame(CLOSE, code(number)), {1000, number})
    for case, number in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535), 1):
        yield fails("7.9.%d" % case, frame(CLOSE, code(number)), {1002})
    yield passes("10.1.1", frame(TEXT, b"*" * 65536), 1300)


def main():
    gateway = Gateway(sys.argv[1])
    wrong, count = [], 0
    started = time.monotonic()
    for group in (sizes, pings, reserved, fragments, texts, closes):
        for name, data, piece, pongs, wanted in group():
            client = Client(gateway.port)
            client.send(data, piece)
            # Whatever is still open answers this.
            client.send(frame(PING, b"still there?"))
            got = client.outcome(pongs + [b"still there?"])
            client.socket.close()
            count += 1
            if got not in wanted:
                wrong.append("%s: %s, expected %s" % (name, got, " or ".join(str(each) for each in sorted(wanted, key=str))))
    gateway.stop()
    print("websocket: %d cases, %d passed (%.1f s)" % (count, count - len(wrong), time.monotonic() - started))
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
