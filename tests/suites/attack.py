#!/usr/bin/env python3
"""attack.py PATH_TO_CALLGATE [NAME...]: attacks a gateway with limits.memory = "512MiB" through its clients and upstreams.

During each attack the process must stay below 576 MiB while others are served. The table says how long /livez and the frames of
a paced stream took meanwhile; with --strict their p99 must be below 50 and 100 ms. Loopback only; about six minutes in all.
"""
import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time

import attacks_memory
import attacks_work
from attack_world import MIB, Bystander, Gateway, percentile, play_role

PEAK = 576 * MIB
LIVEZ = 50  # ms
FRAMES = 100
PARTS = [attacks_work, attacks_memory]


class Row:
    def __init__(self, attack, gateway):
        self.attack = attack
        self.gateway = gateway
        gateway.forget_peak()
        self.bystanders = [Bystander(__file__, role, gateway.port) for role in ["PROBE", "LISTEN"]]
        self.began = time.monotonic()

    def finish(self, said, fine, strict):
        seconds = time.monotonic() - self.began
        peak = self.gateway.value("VmHWM")
        probe, listen = (bystander.report() for bystander in self.bystanders)
        refused = probe["refused"] + listen["refused"]
        livez, frames = percentile(probe["times"], 0.99), percentile(listen["times"], 0.99)
        served = probe["served"] + listen["served"]
        ok = fine and peak < PEAK and served > 0 and not refused and self.gateway.process.poll() is None
        ok = ok and (not strict or (livez < LIVEZ and frames < FRAMES))
        words = "; ".join([said] * bool(said) + [f"refused others {len(refused)} times: {refused[0]!r}" for _ in refused[:1]])
        most = [max(one["times"], default=0.0) for one in (probe, listen)]
        print(f"| {'' if ok else 'FAIL '}{self.attack.__name__} | {seconds:.0f} | {livez:.1f} / {most[0]:.0f} | {frames:.1f} / {most[1]:.0f} "
              f"| {peak / MIB:.0f} | {served} | {words} |", flush=True)
        return ok


async def run(part, attack, options, upstreams):
    with tempfile.TemporaryDirectory(prefix="callgate-attack.") as folder:
        more, tables = part.MORE.get(attack, ""), part.TABLES.get(attack, "")
        gateway = Gateway(os.path.abspath(options.program), folder, upstreams, more, tables)
        row = Row(attack, gateway)
        try:
            said, fine = await attack(gateway) or ("", True)
        except (AssertionError, OSError, asyncio.TimeoutError) as fault:
            said, fine = f"{type(fault).__name__}: {fault}", False
        finally:
            ok = row.finish(said, fine, options.strict)
            gateway.stop()
        return ok


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    models = [subprocess.Popen([sys.executable, __file__, "MODEL"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    failed = 0
    try:
        upstreams = [int(model.stdout.readline()) for model in models]
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f"load average before: {load}, {os.cpu_count()} cores\n")
        print("| attack | s | /livez p99 / max ms | frames p99 / max ms | peak MiB | others served | what came of it |")
        print("|---|---|---|---|---|---|---|")
        for part in PARTS:
            for attack in part.ATTACKS:
                if not options.names or attack.__name__ in options.names:
                    failed += not await run(part, attack, options, upstreams)
        print(f"\nload average after: {os.getloadavg()[0]:.1f}")
    finally:
        for model in models:
            model.kill()
            model.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    if not play_role(sys.argv[1:]):
        sys.exit(asyncio.run(main()))
