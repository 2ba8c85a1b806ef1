"""What sar has recorded, as `sadf -j` writes it or as sar prints it: the whole machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.measurement.fit_columns import CORES
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, written
from qps.compiler.measurement.observations.sar_records import Host, SarSample, Stamp, dated
from qps.compiler.measurement.observations.sar_texts import hosts_of_text

_KIB = 1024
_MOST_NAMED = 8
_HINT = "write it with `sadf -j FILE -- -u -n DEV > sar.json`; FILE is written by `sar -o FILE`"
_NOTE = (
    "warning: sar samples at clock ticks and sums all programs: short requests can use ten times "
    "the CPU time that it shows. Use it to compare utilization; measure service demands per process"
)
_VIRTUAL = re.compile(
    r"(?:bond|team|br|virbr|docker|veth|vnet|vlan|tun|tap|cni|cali|flannel|cilium|wg|ifb)[\d-]"
    r"|br-|docker|.+[.:@]\d"
)
"""Interfaces whose packets pass another one, too, by their usual names."""


class _Hosts(Struct):
    hosts: list[Host]


class _Recorded(Struct):
    sysstat: _Hosts


def sar_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return a row a sample: the load of all processors, packets and bytes both ways together.

    These are of one network interface, or of all but the loopback one. Rows of several machines
    say of which each is.
    """
    text, file, interface = text_of(path), str(path), how.interface
    is_json = text.lstrip().startswith("{")
    hosts = _of_json(text, file) if is_json else hosts_of_text(text, file)
    samples = [sample for host in hosts for sample in host.statistics]
    rows = [
        {"machine": host.nodename, **_row(sample, sample.timestamp, interface), CORES: _cores(host)}
        for host in hosts
        for sample in host.statistics
        if sample.timestamp
    ]
    busy = [row for row in rows if row["cpu in %"] or row["packet/s"]]
    names = sorted({one.iface for sample in samples for one in sample.network.devices})
    if interface is not None and interface not in names:
        known = f"available: {listed(names[:_MOST_NAMED], 'and')}" if names else _HINT
        raise DataError(f"`{shortened(file)}` has no data for `{shortened(interface)}`", known)
    if not busy:
        raise DataError(f"`{shortened(file)}` contains no samples", _HINT)
    is_of_several = len({row["machine"] for row in busy}) > 1
    headings = [heading for heading in busy[0] if any(row[heading] for row in busy)]
    if not is_of_several:
        headings = [heading for heading in headings if heading != "machine"]
    if "cpu in %" not in headings:
        headings = [heading for heading in headings if heading != CORES]
    return ObservedRuns(
        headings=tuple(headings),
        rows=tuple(tuple(row[heading] for heading in headings) for row in busy),
        notes=(_NOTE, *_doubts(samples, file, interface)),
    )


def _of_json(text: str, file: str) -> list[Host]:
    try:
        return msgspec.json.decode(text, type=_Recorded).sysstat.hosts
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"`{shortened(file)}` is not what `sadf -j` writes", _HINT) from error


def _doubts(samples: Sequence[SarSample], file: str, interface: str | None) -> Iterator[str]:
    """Yield what does not add up, and what may count twice."""
    odd = [
        sample.timestamp
        for sample in samples
        if sample.timestamp and sample.load is not None and not sample.load.is_whole
    ]
    if odd:
        more = ""
        if len(odd) > 1:
            more = f" and {len(odd) - 1:,} more time{'s' * (len(odd) > 2)}"  # noqa: PLR2004
        yield (
            f"warning: `{shortened(file)}`: the CPU percentages do not add up to 100 % "
            f"at {dated(odd[0])}{more}; utilization excludes idle, iowait and steal"
        )
    busy = {
        one.iface: None
        for sample in samples
        for one in sample.network.devices
        if one.iface != "lo" and one.rxpck + one.txpck > 0
    }
    if interface is None and len(busy) > 1:
        more = f" and {len(busy) - _MOST_NAMED} more" * (len(busy) > _MOST_NAMED)
        is_doubtful = any(_VIRTUAL.match(name) for name in busy)
        yield (
            f"{'warning: ' * is_doubtful}packets and bytes are the sum of "
            f"{listed([*busy][:_MOST_NAMED], 'and')}{more}: packets on a bridge, bond or "
            "tunnel and on the interface below it are counted twice; select one with `--interface`"
        )


def _cores(host: Host) -> str:
    return "" if host.cores is None else str(host.cores)


def _row(sample: SarSample, at: Stamp, interface: str | None) -> dict[str, str]:
    devices = [
        one
        for one in sample.network.devices
        if one.iface == interface or (interface is None and one.iface != "lo")
    ]
    packets = sum(one.rxpck + one.txpck for one in devices)
    kilobytes = sum(one.received + one.sent for one in devices)
    return {
        "time": dated(at),
        "cpu in %": "" if sample.load is None else written(max(0.0, sample.load.busy)),
        "packet/s": written(packets) if devices else "",
        "byte/s": written(kilobytes * _KIB) if devices else "",
    }
