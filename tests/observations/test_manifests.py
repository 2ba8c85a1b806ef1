"""`qps observe manifests`: what is deployed as a spec that solves; bombs and damage are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qps.api import load
from qps.cli import main

KUBERNETES = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: Web Front}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: a
          env: [{name: PASSWORD, value: hunter2}]
          resources: {limits: {cpu: 1500m, memory: 256Mi}, requests: {cpu: 100m}}
        - {name: b, resources: {limits: {cpu: "0.5", memory: 1Gi}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, maxReplicas: 10, scaleTargetRef: {kind: Deployment, name: Web Front}}
---
kind: List
items:
  - kind: StatefulSet
    metadata: {name: users}
    spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}}
  - {kind: ConfigMap, metadata: {name: settings}, data: {token: secret}}
  - {kind: Deployment, metadata: {name: stopped}, spec: {replicas: 0}}
"""
COMPOSE = """
x-limits: &limits {resources: {limits: {cpus: "0.25", memory: 512M}}}
services:
  api:
    image: registry.example/api@sha256:0123
    environment: {API_KEY: hunter2}
    depends_on: [db]
    deploy: {<<: *limits, replicas: 2}
  db: {cpus: 2, mem_limit: 1gb, scale: 1}
  worker: {depends_on: {db: {condition: service_started}}}
"""


def terraform() -> dict[str, Any]:
    def one(kind: str, name: str, index: int, **values: object) -> dict[str, Any]:
        address = f"{kind}.{name}[{index}]"
        return {"address": address, "mode": "managed", "type": kind, "name": name, "values": values}

    group = {"desired_size": 3, "min_size": 2, "max_size": 9}
    inner = {
        "resources": [
            one(
                "aws_eks_node_group",
                "pool",
                0,
                instance_types=["m7i.xlarge"],
                scaling_config=[group],
            ),
            one("google_compute_instance", "odd", 0, machine_type="z9-giga-3"),
            one("aws_s3_bucket", "logs", 0, bucket="hunter2"),
        ]
    }
    outer = [one("aws_instance", "web", n, instance_type="m6i.large") for n in range(4)]
    outer += [one("azurerm_linux_virtual_machine", "db", 0, size="Standard_D4s_v5")]
    module = {"resources": outer, "child_modules": [inner]}
    return {"format_version": "1.0", "values": {"root_module": module}}


def spec_of(tmp_path: Path, text: str, name: str = "file.yaml") -> tuple[str, Path]:
    file, output = tmp_path / name, tmp_path / "system.qps"
    file.write_text(text, encoding="utf-8")
    assert main(["observe", "manifests", str(file), "-o", str(output)]) == 0
    return output.read_text(encoding="utf-8"), output


def test_kubernetes_becomes_a_spec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, output = spec_of(tmp_path, KUBERNETES)
    assert "`stopped` has no replicas and is left out" in capsys.readouterr().err
    assert "param web_front_count = 3 in 2..10" in text
    assert "cpu 2 core, queueing mmc" in text
    assert "limited to 1342 MB" in text
    assert "node users_service = users_service_machine * users_service_count" in " ".join(
        text.split()
    )
    assert "the manifest requests 1 core" in text
    assert "hunter2" not in text
    assert "secret" not in text
    answer = load(output).solve()
    assert {one.name for one in answer.resources} == {"web_front.cpu", "users_service.cpu"}


def test_compose_becomes_a_spec(tmp_path: Path) -> None:
    text, output = spec_of(tmp_path, COMPOSE)
    assert "param api_count = 2" in text
    assert "cpu 0.25 core, queueing mm1" in text
    assert "a limit of 0.25 core is a quota" in text
    assert "cpu 2 core, queueing mmc" in text
    assert text.count("# depends on db") == 2
    assert "hunter2" not in text
    assert "registry" not in text
    assert load(output).solve().capacity is not None


def test_terraform_becomes_a_spec_with_the_types_of_the_catalog(tmp_path: Path) -> None:
    text, output = spec_of(tmp_path, json.dumps(terraform()), "show.json")
    squeezed = " ".join(text.split())
    assert "param web_count = 4" in squeezed
    assert "node web = cloud.m6i_large * web_count" in squeezed
    assert "node db = cloud.d4s_v5 * db_count" in squeezed
    assert "param pool_count = 3 in 2..9" in squeezed
    assert "node pool = cloud.m7i_xlarge * pool_count" in squeezed
    assert "`z9-giga-3`? `std.cloud` does not have it" in squeezed
    assert "hunter2" not in text
    assert load(output).solve().capacity is not None


def test_hostile_names_are_names(tmp_path: Path) -> None:
    names = ["N", "users", 'a"; machine b {', "→", "web", "web", "client", "x" * 5000]
    objects = [
        {"kind": "Deployment", "metadata": {"name": name, "namespace": str(number)}, "spec": {}}
        for number, name in enumerate(names)
    ]
    _, output = spec_of(tmp_path, json.dumps({"kind": "List", "items": objects}), "a.json")
    assert len(load(output).solve().resources) == len(names)


LAUGHS = "\n".join(
    ["a0: &a0 {k: v}"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
)
WIDE = "a: &a {" + ", ".join(f"k{n}: 1" for n in range(10_001)) + "}\nb: {<<: *a}\n"
"""Merged mappings are copied."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: [", "line 1: not YAML"),
        ("a: b\n  c: d\n", "line 2: not YAML"),
        ("[" * 5000, "nested more than 60 deep"),
        (WIDE, "merged mappings (`<<`) have more than 10,000 values"),
        (f"services: {{a: 1}}\n{LAUGHS}\nx: !!python/object/apply:os.system [ls]", "not YAML"),
        ("a: 2020-99-99", "is not YAML"),
        ("- 1\n- 2\n", "no workloads or machines"),
        ("name: chart\nversion: 1\n", "not a manifest that is known: it has `name`, `version`"),
        ('{"kind": ', "is not JSON"),
        ('{"a":' * 100_000, "is not JSON"),
        ("kind: Deployment\nmetadata: 3\nspec: []\n", "no workloads or machines"),
        ("kind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0}\n", "has replicas"),
        ("x: 1\n" * 100_001, "more than 200,000 values"),
    ],
)
def test_damaged_and_hostile_manifests_are_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["observe", "manifests", str(file)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_aliases_are_references_and_cost_nothing(tmp_path: Path) -> None:
    """Nothing follows all of them: ten lines of ten would be ten billion values."""
    text, _ = spec_of(tmp_path, f"services: {{a: {{cpus: 2}}}}\n{LAUGHS}\n")
    assert "cpu 2 core" in text


def test_an_existing_spec_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "c.yaml", tmp_path / "system.qps"
    file.write_text(COMPOSE, encoding="utf-8")
    output.write_text("mine", encoding="utf-8")
    assert main(["observe", "manifests", str(file), "-o", str(output)]) == 2
    assert "may hold your answers" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8") == "mine"
