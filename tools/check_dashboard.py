#!/usr/bin/env python3
"""Checks that the dashboard and the alerts in contrib/ name only metrics and labels of docs/metrics.md, and that the dashboard leaves out none of
the groups in SHOWN."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|([^|]*)\|", re.M)
NAME = re.compile(r"\b(?:callgate|process)_\w+")
SUFFIX = re.compile(r"_(bucket|sum|count)$")
BY = re.compile(r"by \(([^)]*)\)")
SHOWN = ("callgate_budget", "callgate_loop", "callgate_tool_", "callgate_hook", "callgate_room", "callgate_upstream_", "callgate_memory", "callgate_store")
SELECTOR = re.compile(r"(\w+)=~")


def documented():
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in ROW.findall(page)}


def queries(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("expr", "definition"):
                yield value
            else:
                yield from queries(value)
    elif isinstance(node, list):
        for value in node:
            yield from queries(value)


def check_query(query, metrics, used):
    labels = set()
    for name in NAME.findall(query):
        family = name if name in metrics else SUFFIX.sub("", name)
        if family not in metrics or (family != name) != (metrics[family][0] == "histogram"):
            yield f"there is no metric {name}: {query}"
            continue
        used.add(family)
        labels |= metrics[family][1]
    wanted = {label.strip() for group in BY.findall(query) for label in group.split(",")}
    wanted |= set(SELECTOR.findall(query))
    for label in sorted(wanted - labels - {"le", "job", "instance"}):
        yield f"there is no label {label}: {query}"


def main():
    metrics = documented()
    dashboard = json.loads((ROOT / "contrib/grafana-callgate.json").read_text(encoding="utf-8"))
    used = set()
    faults = [fault for query in queries(dashboard) for fault in check_query(query, metrics, used)]
    alerts = (ROOT / "contrib/prometheus-alerts.yml").read_text(encoding="utf-8")
    for query in re.findall(r"^ +expr: (?:>-\n)?((?:.|\n)*?)(?=\n +(?:for|labels):)", alerts, re.M):
        faults += check_query(query.replace('up{job="callgate"}', ""), metrics, set())
    for name in sorted(set(metrics) - used):
        if name.startswith(SHOWN):
            faults.append(f"no panel shows {name}")
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        faults.append("two panels have the same id")
    for fault in faults:
        print(f"contrib: {fault}")
    print(f"dashboard: {len(used)} metrics, {len(faults)} faults")
    return 1 if faults or not used else 0


if __name__ == "__main__":
    sys.exit(main())
