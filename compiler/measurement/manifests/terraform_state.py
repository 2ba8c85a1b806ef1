"""Machines in the output of `terraform show -json`, of a state or a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qps.compiler.measurement.manifests.deployed_workloads import (
    Workload,
    count,
    items,
    mapping,
    text,
)

_SINGLE = {
    "aws_instance": "instance_type",
    "google_compute_instance": "machine_type",
    "azurerm_linux_virtual_machine": "size",
    "azurerm_windows_virtual_machine": "size",
    "azurerm_virtual_machine": "vm_size",
}
"""Machines, and the attribute with their type."""
_DEEPEST = 20


def terraform_workloads(document: dict[str, Any], file: str) -> list[Workload]:
    """Return machines, those of one resource together, and groups of machines."""
    values = mapping(document.get("planned_values") or document.get("values"))
    found: dict[str, Workload] = {}
    for one in _resources(mapping(values.get("root_module")), 0):
        name, kind = text(one.get("name")), text(one.get("type"))
        values_of = mapping(one.get("values"))
        workload = _workload(name, kind, values_of, file)
        if workload is None or not name:
            continue
        key = f"{text(one.get('address')).partition('[')[0]} {workload.machine_type}"
        before = found.get(key)
        replicas = workload.replicas + (0 if before is None else before.replicas)
        found[key] = Workload(
            name=name,
            file=file,
            replicas=replicas,
            least=workload.least,
            most=workload.most,
            machine_type=workload.machine_type,
        )
    return list(found.values())


def _resources(module: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    for one in items(module.get("resources")):
        if mapping(one).get("mode", "managed") == "managed":
            yield mapping(one)
    for child in items(module.get("child_modules")):
        yield from _resources(mapping(child), depth + 1)


def _workload(name: str, kind: str, values: dict[str, Any], file: str) -> Workload | None:
    if kind in _SINGLE:
        return Workload(name=name, file=file, machine_type=text(values.get(_SINGLE[kind])))
    if kind == "aws_eks_node_group":
        scaling = _first(values.get("scaling_config"))
        types = [*map(text, items(values.get("instance_types"))), ""]
        sizes = (scaling.get(key) for key in ("desired_size", "min_size", "max_size"))
        return _group(name, file, types[0], *sizes)
    if kind == "aws_autoscaling_group":
        sizes = (values.get(key) for key in ("desired_capacity", "min_size", "max_size"))
        return _group(name, file, "", *sizes)
    if kind == "google_container_node_pool":
        scaling, node = _first(values.get("autoscaling")), _first(values.get("node_config"))
        sizes = (scaling.get(key) for key in ("min_node_count", "max_node_count"))
        return _group(name, file, text(node.get("machine_type")), values.get("node_count"), *sizes)
    if kind == "azurerm_kubernetes_cluster_node_pool":
        sizes = (values.get(key) for key in ("node_count", "min_count", "max_count"))
        return _group(name, file, text(values.get("vm_size")), *sizes)
    return None


def _group(name: str, file: str, machine_type: str, *sizes: Any) -> Workload:
    wanted, least, most = map(count, sizes)
    return Workload(
        name=name,
        file=file,
        replicas=wanted or least or 1,
        least=least if most else None,
        most=most or None,
        machine_type=machine_type,
    )


def _first(value: Any) -> dict[str, Any]:
    """Return the one block of a kind, which Terraform writes as a list."""
    return mapping(next(iter(items(value)), None))
