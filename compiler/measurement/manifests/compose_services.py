"""Services of compose files."""

from __future__ import annotations

from typing import Any

from qps.compiler.measurement.manifests.deployed_workloads import (
    Workload,
    count,
    mapping,
    text,
)
from qps.compiler.measurement.manifests.resource_amounts import docker_bytes, kubernetes_amount


def compose_workloads(document: dict[str, Any], file: str) -> list[Workload]:
    """Return the services of a compose file, in their order."""
    services = mapping(document.get("services"))
    return [_service(str(name), mapping(one), file) for name, one in services.items()]


def _service(name: str, one: dict[str, Any], file: str) -> Workload:
    deploy = mapping(one.get("deploy"))
    resources = mapping(deploy.get("resources"))
    limits, reserved = mapping(resources.get("limits")), mapping(resources.get("reservations"))
    replicas = count(deploy.get("replicas"))
    if replicas is None:
        replicas = count(one.get("scale"))
    depends = one.get("depends_on")
    names = depends if isinstance(depends, list) else [*mapping(depends)]
    return Workload(
        name=name,
        file=file,
        replicas=1 if replicas is None else replicas,
        limit=kubernetes_amount(limits.get("cpus", one.get("cpus"))),
        request=kubernetes_amount(reserved.get("cpus")),
        memory=docker_bytes(limits.get("memory", one.get("mem_limit"))),
        depends_on=tuple(filter(None, map(text, names))),
    )
