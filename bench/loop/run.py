#!/usr/bin/env python3
"""run.py PATH_TO_CALLGATE: what it is worth to start tools while the model still writes.

A scripted model makes four calls and then writes text for 800 ms; each tool takes 200 ms. The same conversation is run by
the gateway's loop, and by a client that waits for the turn and then runs the tools at once or one after another. Prints a
table for docs/loop.md.
"""
import http.client
import http.server
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TOOLS = 4
TOOL_SECONDS = 0.2
RUNS = int(os.environ.get("RUNS", "10"))
CALLS = "".join(f'  call slow {{"n": {n}}} id=c{n}\n' for n in range(TOOLS))
SCRIPT = f"""rule calls
  when turn 0
{CALLS}  pace 40ms
  cut words
  text "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"

rule answer
  when last tool
  text "done"
"""


class Tool(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(TOOL_SECONDS)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def start(args):
    """A callgate process and the port that it listens on."""
    process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.search(r"listening on http://127.0.0.1:(\d+)", line)
        if found:
            return process, int(found.group(1))
    raise SystemExit(f"{args}: does not listen")


def stream(port, body):
    """Yields (seconds, chunk) of a streamed answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/v1/chat/completions", json.dumps({**body, "stream": True}),
                       {"content-type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(response.read().decode())
    for line in response:
        if line.startswith(b"data: {"):
            yield time.perf_counter(), json.loads(line[6:])
    connection.close()


QUESTION = {"role": "user", "content": "go"}
SPEC = {"type": "function", "function": {"name": "slow", "parameters": {"type": "object"}}}


def early(port):
    """The gateway's loop: (seconds in all, seconds from the last call's last byte to the last result)."""
    begin = time.perf_counter()
    last_call = last_result = begin
    callgate = {"loop": True, "show_tool_calls": True}
    for at, chunk in stream(port, {"model": "m", "messages": [QUESTION], "callgate": callgate}):
        kind = chunk.get("callgate", {}).get("type")
        if kind == "callgate.tool_call":
            last_call = at
        if kind == "callgate.tool_result":
            last_result = at
    return time.perf_counter() - begin, last_result - last_call


def run_tool(tool_port):
    connection = http.client.HTTPConnection("127.0.0.1", tool_port)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()
    return time.perf_counter()


def by_client(port, tool_port, at_once):
    """A client that reads the whole turn before it runs the tools."""
    begin = time.perf_counter()
    calls, last_call = {}, begin
    for at, chunk in stream(port, {"model": "m", "messages": [QUESTION], "tools": [SPEC]}):
        for choice in chunk["choices"]:
            for call in choice["delta"].get("tool_calls", []):
                whole = calls.setdefault(call["index"], {"id": "", "arguments": ""})
                whole["id"] = call.get("id", whole["id"])
                whole["arguments"] += call["function"].get("arguments", "")
                last_call = at
    with ThreadPoolExecutor(TOOLS if at_once else 1) as pool:
        last_result = max(pool.map(run_tool, [tool_port] * len(calls)))
    said = [{"id": call["id"], "type": "function",
             "function": {"name": "slow", "arguments": call["arguments"]}}
            for call in calls.values()]
    messages = [QUESTION, {"role": "assistant", "content": None, "tool_calls": said}]
    messages += [{"role": "tool", "tool_call_id": call["id"], "content": "{}"} for call in said]
    for _ in stream(port, {"model": "m", "messages": messages, "tools": [SPEC]}):
        pass
    return time.perf_counter() - begin, last_result - last_call


def row(name, measured):
    whole = statistics.median(total for total, _ in measured) * 1000
    after = [wait * 1000 for _, wait in measured]
    print(f"| {name} | {whole:.0f} ms | {statistics.median(after):.0f} ms | {max(after):.0f} ms |")


def main():
    callgate = os.path.abspath(sys.argv[1])
    tools = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tool)
    threading.Thread(target=tools.serve_forever, daemon=True).start()
    tool_port = tools.server_address[1]
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "model.script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        try:
            mock, mock_port = start([callgate, "mock", "--script", script, "--listen", "127.0.0.1:0"])
            processes.append(mock)
            config = os.path.join(folder, "callgate.toml")
            with open(config, "w", encoding="utf-8") as file:
                file.write(f'''listen = "127.0.0.1:0"
[store]
url = "none"
[[upstream]]
name = "main"
url = "http://127.0.0.1:{mock_port}/v1"
[[model]]
name = "m"
upstream = "main"
[[tool]]
name = "slow"
kind = "http"
method = "GET"
url = "http://127.0.0.1:{tool_port}/"
addresses = ["127.0.0.0/8"]
''')
            gateway, port = start([callgate, "serve", "--config", config])
            processes.append(gateway)
            print("| | whole answer | last call's end to last result | worst |\n|---|---|---|---|")
            row("the gateway's loop", [early(port) for _ in range(RUNS)])
            row("after the turn, at once", [by_client(port, tool_port, True) for _ in range(RUNS)])
            row("after the turn, one by one",
                [by_client(port, tool_port, False) for _ in range(RUNS)])
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
