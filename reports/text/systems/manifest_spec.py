"""A spec of what manifests deploy: counts and limits with their source, and open questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.manifests.deployed_workloads import Workload
from qps.reports.text.measurements.fit_text import quoted
from qps.reports.text.systems.observed_system import comment
from qps.reports.text.systems.spec_names import SpecNames
from qps.reports.text.systems.spec_numbers import plain
from qps.reports.text.words.phrases import phrase
from qps.stdlib import module_text

_ASSUMED = "between 0.1 and 10 ms/request"
_ENDINGS = ("", "_cpu", "_count", "_cores", "_machine", "_request")


class _Named(Struct, frozen=True):
    """A workload, and what its names in the spec begin with."""

    workload: Workload
    name: str


def manifest_spec(workloads: Sequence[Workload]) -> str:
    """Return the text of a spec, to be laid out; each workload has at least one replica."""
    names = SpecNames()
    for taken in ("client", "fabric", "calls", "request_rate", "cloud"):
        names.new(taken, more="service")
    named = [
        _Named(one, names.new(one.name, more="service", endings=_ENDINGS)) for one in workloads
    ]
    return "\n".join(_lines(named)) + "\n"


def _lines(named: Sequence[_Named]) -> Iterator[str]:
    doc = phrase("manifest.doc", count=len(named), s="s" * (len(named) != 1))
    yield f'"""{doc}"""'
    yield from comment(phrase("manifest.header"))
    if any(_cloud_type(one.workload) for one in named):
        yield "use std.cloud"
    yield "users N in 1..1_000_000"
    yield from comment(phrase("manifest.rate_question"))
    assumed = quoted(phrase("manifest.assumed"))
    yield f"param request_rate = 1 request/s  source {assumed}"
    yield from comment(phrase("manifest.cpu_question"))
    for one in named:
        yield f"param {one.name}_cpu = {_ASSUMED}  source {assumed}"
    yield ""
    for one in named:
        yield from _machine_lines(one)
    yield "machine client { }"
    yield "network fabric { propagation 0 ms }"
    for one in named:
        yield f"component {one.name}_request {{ cpu {one.name}_cpu }}"
    yield "topology {"
    for one in named:
        yield f"  node {one.name} = {_machine(one)} * {one.name}_count"
    yield "  node clients = client * N"
    yield "  link calls = fabric between all"
    yield "}"
    yield from comment(phrase("manifest.path_question"))
    yield "stream request for each clients {"
    yield "  traffic request_rate"
    for one in named:
        depends = ", ".join(shortened(name) for name in one.workload.depends_on)
        if depends:
            yield from comment(phrase("manifest.depends", names=depends))
        yield f"  at {one.name} {{ {one.name}_request }}"
        yield "  over calls"
    yield "  at clients { }"
    yield "}"


def _machine_lines(one: _Named) -> Iterator[str]:
    """Yield the count of a workload, and its machine where that is no type of the catalog."""
    found, file = one.workload, shortened(PurePath(one.workload.file).name)
    if found.name != one.name:
        yield from comment(shortened(found.name))
    source = quoted(phrase("manifest.count", file=file))
    bounds = f"{found.least or 1}..{found.most}" if found.most else "1..10_000"
    count = min(max(found.replicas, found.least or 1), found.most or found.replicas)
    yield f"param {one.name}_count = {count} in {bounds}  source {source}"
    if _cloud_type(found):
        return
    if found.limit is not None:
        whole = found.limit.is_integer()
        if not whole:
            yield from comment(phrase("manifest.fraction", cores=plain(found.limit)))
        cpu = f"cpu {plain(found.limit)} core, queueing {'mmc' if whole else 'mm1'}"
        source = quoted(phrase("manifest.limit", file=file))
    else:
        key = "manifest.type_question" if found.machine_type else "manifest.cores_question"
        guaranteed = "" if found.request is None else plain(found.request)
        yield from comment(phrase(key, type=shortened(found.machine_type)))
        if guaranteed:
            yield from comment(phrase("manifest.requests", cores=guaranteed))
        assumed = quoted(phrase("manifest.assumed"))
        yield f"param {one.name}_cores = 2 in 1..1024  source {assumed}"
        cpu = f"cpu {one.name}_cores * 1 core, queueing mmc"
        source = quoted(phrase("manifest.machine", file=file))
    if found.memory is not None:
        yield from comment(phrase("manifest.memory", size=plain(found.memory / 1e6)))
    yield f"machine {one.name}_machine {{ {cpu}; source {source} }}"


def _machine(one: _Named) -> str:
    cloud = _cloud_type(one.workload)
    return f"cloud.{cloud}" if cloud else f"{one.name}_machine"


def _cloud_type(one: Workload) -> str:
    """Return the name of a type in the catalog; an empty text where it is not there.

    >>> from qps.compiler.measurement.manifests.deployed_workloads import Workload
    >>> _cloud_type(Workload(name="a", file="", machine_type="Standard_D2s_v5"))
    'd2s_v5'
    """
    bare = one.machine_type.removeprefix("Standard_").removeprefix("standard_")
    name = bare.lower().replace(".", "_").replace("-", "_")
    is_known = name.isidentifier() and f"\nmachine {name} {{" in module_text("std.cloud")
    return name if is_known else ""
