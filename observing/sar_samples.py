"""What sar has recorded, as `sadf -j` writes it: the whole machine, sample by sample."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import listed, shortened
from qps.observing.observed_runs import ObservedRuns, written

_KIB = 1024
_MOST_NAMED = 8
_HINT = "write it with `sadf -j FILE -- -u -n DEV > sar.json`; FILE is what `sar -o FILE` wrote"
_NOTE = (
    "warning: sar asks the system at its ticks what runs, and adds up all programs: short requests "
    "may use ten times what it shows. Compare loads by it; measure costs by what a process has used"
)


class _Cpu(Struct):
    cpu: str | int
    idle: float
    iowait: float = 0.0
    steal: float = 0.0

    @property
    def load(self) -> float:
        """What this machine worked, in %: to wait for a disk or for other guests is no work."""
        return 100 - self.idle - self.iowait - self.steal


class _Device(Struct):
    iface: str
    rxpck: float
    txpck: float
    received: float = field(name="rxkB")
    sent: float = field(name="txkB")


class _Network(Struct):
    devices: list[_Device] = field(name="net-dev", default_factory=list)


class _Stamp(Struct):
    date: str
    time: str
    utc: int = 0


class _Sample(Struct):
    timestamp: _Stamp | None = None
    loads: list[_Cpu] = field(name="cpu-load", default_factory=list)
    network: _Network = field(default_factory=_Network)


class _Host(Struct):
    statistics: list[_Sample]


class _Hosts(Struct):
    hosts: list[_Host]


class _Recorded(Struct):
    sysstat: _Hosts


def sar_table(text: str, file: str, interface: str | None) -> ObservedRuns:
    """Return a row a sample: the load of all processors, packets and bytes both ways together.

    These are of one network interface, or of all but the loopback one.
    """
    try:
        hosts = msgspec.json.decode(text, type=_Recorded).sysstat.hosts
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"`{shortened(file)}` is not what `sadf -j` writes", _HINT) from error
    samples = [sample for host in hosts for sample in host.statistics]
    rows = [_row(sample, sample.timestamp, interface) for sample in samples if sample.timestamp]
    told = [row for row in rows if row["cpu in %"] or row["packet/s"]]
    names = sorted({one.iface for sample in samples for one in sample.network.devices})
    if interface is not None and interface not in names:
        known = f"it has {listed(names[:_MOST_NAMED], 'and')}" if names else _HINT
        raise DataError(f"`{shortened(file)}` tells nothing of `{shortened(interface)}`", known)
    if not told:
        raise DataError(f"`{shortened(file)}` holds no samples", _HINT)
    kept = [heading for heading in told[0] if any(row[heading] for row in told)]
    return ObservedRuns(
        headings=tuple(kept),
        rows=tuple(tuple(row[heading] for heading in kept) for row in told),
        notes=(_NOTE,),
    )


def _row(sample: _Sample, at: _Stamp, interface: str | None) -> dict[str, str]:
    load = next((one.load for one in sample.loads if one.cpu in ("all", -1)), None)
    devices = [
        one
        for one in sample.network.devices
        if one.iface == interface or (interface is None and one.iface != "lo")
    ]
    packets = sum(one.rxpck + one.txpck for one in devices)
    kilobytes = sum(one.received + one.sent for one in devices)
    return {
        "time": f"{at.date}T{at.time}" + "Z" * bool(at.utc),
        "cpu in %": "" if load is None else written(max(0.0, load)),
        "packet/s": written(packets) if devices else "",
        "byte/s": written(kilobytes * _KIB) if devices else "",
    }
