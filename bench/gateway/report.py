"""What was measured, as the tables of docs/performance.md: targets with what was reached, all values, and how they grow."""
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess

import machine

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
NOISY_LOAD = 0.5  # runnable processes of others before it starts
NOISY_SPREAD = 1.25  # of nginx's own CPU per request, the highest by the lowest round
ROWS = {
    "whole_cpu": "1 KB whole answer, CPU us", "lone_p50": "1 KB whole answer alone, p50 us", "lone_p99": "...p99 us",
    "burst_cpu": "300-frame stream at full speed, CPU us per frame",
}


class Found:
    """Values by key, one per round."""

    def __init__(self, args):
        self.args = args
        self.values = {}
        self.load = os.getloadavg()[0]
        self.problems = []

    def note(self, key, value):
        self.values.setdefault(key, []).append(value)

    def get(self, key):
        """`a : b` are ratios, round by round."""
        if " : " not in key:
            return self.values.get(key, [])
        over, under = (self.values.get(each, []) for each in key.split(" : "))
        return [a / b for a, b in zip(over, under) if b > 0]

    def noise(self):
        reasons = list(self.problems)
        if self.load > NOISY_LOAD:
            reasons.append(f"the load was {self.load:.1f} before it began")
        nginx = self.values.get("whole_cpu/nginx", [])
        if nginx and max(nginx) / min(nginx) > NOISY_SPREAD:
            reasons.append(f"nginx itself took {min(nginx):.1f} to {max(nginx):.1f} us per request")
        return reasons


def targets():
    for line in (machine.HERE / "targets.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            yield (line.split("\t") + [""])[:5]


def target_table(found):
    lines = ["| what | measured | target | reached | why not |", "|---|---|---|---|---|"]
    for key, what, target, digits, reason in targets():
        values = found.get(key)
        at_least, limit = target.startswith(">"), float(target.lstrip(">"))
        cell, reached = "not measured", ""
        if values:
            value = round(statistics.median(values), int(digits))
            fine = value >= limit if at_least else value <= limit
            cell, reached = machine.shown(values, int(digits)), "yes" if fine else "no"
        shown = f"{'at least ' if at_least else ''}{limit:,g}"
        lines.append(f"| {what} | {cell} | {shown} | {reached} | {reason if reached == 'no' else ''} |")
    return lines


def value_table(found):
    names = [key.split("/", 1)[1] for key in found.values if key.startswith("whole_cpu/")]
    if not names:
        return []
    rows = dict(ROWS)
    for streams in found.args.paced:
        rows[f"paced_{streams}_cpu"] = f"{streams:,} paced streams, CPU us per frame"
        rows[f"paced_{streams}_p50"] = "...latency of a frame, p50 us"
        rows[f"paced_{streams}_p99"] = "...p99 us"
    lines = ["| what | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for key, what in rows.items():
        lines.append(f"| {what} | " + " | ".join(machine.shown(found.get(f"{key}/{name}")) for name in names) + " |")
    return lines


def single_table(found, title, rows):
    """Rows of (what, key, digits) that were measured."""
    measured = [(what, found.get(key), digits) for what, key, digits in rows if found.get(key)]
    if not measured:
        return []
    return [f"| {title} | |", "|---|---|", *(f"| {what} | {machine.shown(values, digits)} |" for what, values, digits in measured)]


def page(found):
    commit = subprocess.run(["git", "-C", str(machine.ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    head = f"{datetime.date.today()}, commit {commit}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, {found.args.rounds} rounds."
    noise = found.noise()
    if noise:
        head += f" **The machine was too noisy** ({'; '.join(noise)}): run it again before you believe a row."
    protocols = [(key.split("/")[1], key, 2) for key in found.values if key.startswith("protocol/")]
    memory = [(f"{kind}, {name}", f"memory_{kind}/{name}", 1) for kind in ("plain", "TLS") for name in ("nginx", "callgate")]
    tls = [(f"{kind}, {name}", f"paced_cpu_{kind}/{name}", 2) for kind in ("plain", "TLS") for name in ("nginx", "callgate")]
    growth = [(f"CPU us per frame, {streams:,} paced streams", f"paced_{streams}_cpu/callgate", 2) for streams in found.args.paced]
    growth += [(f"CPU us per request, {count:,} {'message' if count == 1 else 'messages'}", f"messages/{count}", 1) for count in (1, 100, 10_000)]
    growth.append((f"memory of a connection, {found.args.idle:,} idle ones, KB", "idle_connection", 2))
    blocks = [[head], target_table(found), value_table(found), single_table(found, "memory per active stream, fresh process, KB", memory),
              single_table(found, "paced frame, fresh process, CPU us", tls), single_table(found, "CPU us per frame, by the client's protocol", protocols),
              single_table(found, "growth: each is to be flat, or linear", growth)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def write(path: pathlib.Path, text):
    old = path.read_text()
    if BEGIN not in old or END not in old:
        raise SystemExit(f"{path} has no place for the tables: {BEGIN} and {END}")
    new = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{text}{END}", old, flags=re.S)
    path.write_text(new)
