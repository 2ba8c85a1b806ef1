"""Objects of Kubernetes: what runs in pods, and what scales it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from qps.compiler.measurement.manifests.deployed_workloads import (
    Workload,
    count,
    items,
    mapping,
    text,
)
from qps.compiler.measurement.manifests.resource_amounts import kubernetes_amount

_KINDS = frozenset(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Rollout"])
_AUTOSCALER = "HorizontalPodAutoscaler"
_Key = tuple[str, str, str]
"""Namespace, kind and name."""


def kubernetes_workloads(objects: Sequence[tuple[dict[str, Any], str]]) -> list[Workload]:
    """Return what runs, with the bounds of its autoscaler; other objects are left out."""
    found: dict[_Key, Workload] = {}
    scaled: dict[_Key, tuple[int | None, int | None]] = {}
    for each, file in objects:
        for one in _singles(each):
            kind, spec = text(one.get("kind")), mapping(one.get("spec"))
            meta = mapping(one.get("metadata"))
            namespace, name = text(meta.get("namespace")), text(meta.get("name"))
            if kind in _KINDS and name:
                found[namespace, kind, name] = _workload(name, spec, file)
            elif kind == _AUTOSCALER:
                target = mapping(spec.get("scaleTargetRef"))
                key = (namespace, text(target.get("kind")), text(target.get("name")))
                scaled[key] = count(spec.get("minReplicas")), count(spec.get("maxReplicas"))
    for key, (least, most) in scaled.items():
        if key in found and most:
            found[key] = replace(found[key], least=least or 1, most=max(most, least or 1))
    return list(found.values())


def _singles(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object, or those of a list."""
    if text(one.get("kind")).endswith("List"):
        yield from (mapping(each) for each in items(one.get("items")))
    else:
        yield one


def _workload(name: str, spec: dict[str, Any], file: str) -> Workload:
    """Return a workload; what all containers of a pod have together, None where one has none."""
    pod = mapping(mapping(spec.get("template")).get("spec"))
    resources = [mapping(mapping(one).get("resources")) for one in items(pod.get("containers"))]
    limits = [mapping(one.get("limits")) for one in resources]
    requests = [mapping(one.get("requests")) for one in resources]
    replicas = count(spec.get("replicas"))
    return Workload(
        name=name,
        file=file,
        replicas=1 if replicas is None else replicas,
        limit=_together(limits, "cpu"),
        request=_together(requests, "cpu"),
        memory=_together(limits, "memory"),
    )


def _together(containers: Sequence[dict[str, Any]], resource: str) -> float | None:
    amounts = [kubernetes_amount(one.get(resource)) for one in containers]
    known = [one for one in amounts if one is not None]
    return sum(known) if known and len(known) == len(amounts) else None
