#!/usr/bin/env python3
"""The deployment examples, as far as they can be checked without a container engine or a cluster: contrib_test.py [CALLGATE].

YAML is read and its references are followed; alert rules are run by promtool; the image's health check runs against a gateway.
What needs a program that is not installed (promtool of Debian's prometheus, docker-compose, python3-yaml) is skipped, and says so.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONTRIB = ROOT / "contrib"
CALLGATE = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
needs_yaml = unittest.skipIf(yaml is None, "SKIPPED: python3-yaml is not installed")
needs_promtool = unittest.skipIf(shutil.which("promtool") is None, "SKIPPED: promtool is not installed (Debian: prometheus)")
needs_compose = unittest.skipIf(shutil.which("docker-compose") is None, "SKIPPED: docker-compose is not installed")
needs_callgate = unittest.skipIf(CALLGATE is None, "SKIPPED: no callgate was given")


def documents(name):
    return [one for one in yaml.safe_load_all((CONTRIB / name).read_text(encoding="utf-8")) if one]


def variables(text):
    return set(re.findall(r"\$\{(\w+)\}", text))


class Prometheus(unittest.TestCase):
    @needs_promtool
    def test_every_alert_fires_when_it_should_and_only_then(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (CONTRIB / "prometheus-alerts.yml", ROOT / "tests/contrib/alerts_test.yml"):
                shutil.copy(path, folder)
            for command in (["check", "rules", "prometheus-alerts.yml"], ["test", "rules", "alerts_test.yml"]):
                done = subprocess.run(["promtool", *command], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_promtool
    def test_the_configuration_of_the_compose_file_is_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(CONTRIB / "container/prometheus.yml", folder)
            shutil.copy(CONTRIB / "prometheus-alerts.yml", folder)
            done = subprocess.run(["promtool", "check", "config", "prometheus.yml"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_yaml
    def test_every_alert_has_a_test_a_severity_and_a_next_step(self):
        cases = {case["name"] for case in yaml.safe_load((ROOT / "tests/contrib/alerts_test.yml").read_text(encoding="utf-8"))["tests"]}
        for rule in documents("prometheus-alerts.yml")[0]["groups"][0]["rules"]:
            with self.subTest(alert=rule["alert"]):
                self.assertTrue({f"{rule['alert']} fires", f"{rule['alert']} stays quiet"} <= cases)
                self.assertIn(rule["labels"]["severity"], ("warning", "critical"))
                self.assertEqual(set(rule["annotations"]), {"summary", "action"})


class Containers(unittest.TestCase):
    def test_what_the_image_copies_exists(self):
        text = (CONTRIB / "container/Containerfile").read_text(encoding="utf-8")
        for source in re.findall(r"^COPY (?!--from)(\S+) ", text, re.M):
            self.assertTrue((ROOT / source).exists(), source)
        for program in re.findall(r"(?:^RUN|&&) (tools/\S+)", text, re.M):
            self.assertTrue((ROOT / program).exists(), program)

    @needs_yaml
    def test_what_compose_mounts_exists_and_what_it_needs_is_given(self):
        compose = documents("container/compose.yaml")[0]
        for name, service in compose["services"].items():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                found = (CONTRIB / "container" / source).is_file() if source.startswith(".") else source in compose["volumes"]
                self.assertTrue(found, f"{name}: {source}")
            for other in service.get("depends_on", {}):
                self.assertIn("healthcheck", compose["services"][other])
        given = set(compose["services"]["callgate"]["environment"])
        self.assertEqual(given, variables((CONTRIB / "container/callgate.toml").read_text(encoding="utf-8")))

    @needs_compose
    def test_compose_reads_the_file_and_refuses_it_without_a_key(self):
        def config(**environment):
            return subprocess.run(["docker-compose", "-f", CONTRIB / "container/compose.yaml", "config"], capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], **environment})
        done = config(CALLGATE_KEY="sk-compose")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CALLGATE_KEY: sk-compose", done.stdout)
        refused = config()
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("CALLGATE_KEY", refused.stderr)

    @needs_callgate
    def test_the_health_check_knows_a_gateway_that_answers_from_one_that_does_not(self):
        text = (CONTRIB / "container/Containerfile").read_text(encoding="utf-8")
        command = json.loads(re.search(r"HEALTHCHECK[^\[]*?CMD (\[[^\n]*\])$", text, re.S | re.M)[1])
        serve = [CALLGATE, "serve", "--demo", "--listen", "127.0.0.1:0", "--set", "store.url=none"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as gateway:
            port = re.search(r":(\d+)", gateway.stdout.readline())[1]
            check = [word.replace("/8080", f"/{port}") for word in command]
            self.assertNotEqual(check, command)
            up = subprocess.run(check, capture_output=True, timeout=60).returncode
            gateway.terminate()
        self.assertEqual(up, 0)
        self.assertNotEqual(subprocess.run(check, capture_output=True, timeout=60).returncode, 0)


@needs_yaml
class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.kinds = {one["kind"]: one for one in documents("kubernetes/callgate.yaml")}
        self.pod = self.kinds["Deployment"]["spec"]["template"]

    def test_everything_is_in_the_namespace_and_finds_the_pods(self):
        labels = self.pod["metadata"]["labels"]
        for kind, one in self.kinds.items():
            if kind != "Namespace":
                self.assertEqual(one["metadata"]["namespace"], self.kinds["Namespace"]["metadata"]["name"], kind)
        spec = {kind: self.kinds[kind]["spec"]["selector"] for kind in ("Deployment", "PodDisruptionBudget", "Service")}
        self.assertEqual(spec["Deployment"]["matchLabels"], labels)
        self.assertEqual(spec["PodDisruptionBudget"]["matchLabels"], labels)
        self.assertEqual(spec["Service"], labels)

    def test_references_lead_to_what_is_there(self):
        container = self.pod["spec"]["containers"][0]
        self.assertEqual(container["envFrom"][0]["secretRef"]["name"], self.kinds["Secret"]["metadata"]["name"])
        volumes = {volume["name"]: volume for volume in self.pod["spec"]["volumes"]}
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, set(volumes))
        self.assertEqual(volumes["config"]["configMap"]["name"], self.kinds["ConfigMap"]["metadata"]["name"])
        ports = {port["name"] for port in container["ports"]}
        probes = [container[name]["httpGet"]["port"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
        self.assertLessEqual({*probes, self.kinds["Service"]["spec"]["ports"][0]["targetPort"]}, ports)
        text = self.kinds["ConfigMap"]["data"]["callgate.toml"]
        self.assertEqual(variables(text), set(self.kinds["Secret"]["stringData"]))

    def test_a_pod_has_time_to_drain(self):
        grace = self.pod["spec"]["terminationGracePeriodSeconds"]
        config = (ROOT / "docs/config.md").read_text(encoding="utf-8")
        drain = int(re.search(r'\| `drain_timeout` \| `"(\d+)s"`', config)[1])
        before = int(self.pod["spec"]["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
        self.assertGreater(grace, drain + before)


if __name__ == "__main__":
    unittest.main()
