"""What sar has recorded, as `sadf -j` writes it or as sar prints it: the whole machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct, field

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import listed, shortened
from qps.observing.observed_runs import ObservedRuns, written

_KIB = 1024
_MOST_NAMED = 8
_LONGEST_LINE = 1000
_HALF_DAY = 12
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


class _Device(Struct, kw_only=True):
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
    samples = _of_json(text, file) if text.lstrip().startswith("{") else _of_text(text)
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


def _of_json(text: str, file: str) -> list[_Sample]:
    try:
        hosts = msgspec.json.decode(text, type=_Recorded).sysstat.hosts
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"`{shortened(file)}` is not what `sadf -j` writes", _HINT) from error
    return [sample for host in hosts for sample in host.statistics]


def _of_text(text: str) -> list[_Sample]:
    """Return the samples that sar prints, told apart by their times; averages are left out.

    The date is taken where it stands in one order alone: year, month, day.
    """
    found: dict[str, _Sample] = {}
    date, headings = "", list[str]()
    for line in text.splitlines():
        words = line[:_LONGEST_LINE].replace(",", ".").split()
        if line.startswith("Linux"):
            date = next((word for word in words if re.fullmatch(r"\d{4}-\d\d-\d\d", word)), "")
        at = _time(words)
        if at is None:
            continue
        names = words[2:] if words[1] in ("AM", "PM") else words[1:]
        if names[:1] in (["CPU"], ["IFACE"]):
            headings = names
        elif len(names) == len(headings):
            sample = found.setdefault(at, _Sample(_Stamp(date, at)))
            _add(sample, dict(zip(headings, names, strict=True)))
    return list(found.values())


def _time(words: Sequence[str]) -> str | None:
    """Return the time that a line begins with, of 24 hours; None where it begins with none."""
    if len(words) < 3 or not re.fullmatch(r"\d\d:\d\d:\d\d", words[0]):  # noqa: PLR2004
        return None
    hour = int(words[0][:2])
    if words[1] in ("AM", "PM"):
        hour = hour % _HALF_DAY + _HALF_DAY * (words[1] == "PM")
    return f"{hour:02}{words[0][2:]}"


def _add(sample: _Sample, cells: dict[str, str]) -> None:
    """Add what a line says of a processor or of an interface; nothing where it is no number."""
    try:
        numbers = {name: float(cell) for name, cell in cells.items() if name[0] in "%rt"}
        if cells.get("CPU") == "all":
            idle = (numbers.get(f"%{word}", 0.0) for word in ("iowait", "steal"))
            sample.loads.append(_Cpu("all", numbers["%idle"], *idle))
        elif "IFACE" in cells:
            device = _Device(
                iface=cells["IFACE"],
                rxpck=numbers["rxpck/s"],
                txpck=numbers["txpck/s"],
                received=numbers["rxkB/s"],
                sent=numbers["txkB/s"],
            )
            sample.network.devices.append(device)
    except (ValueError, KeyError):
        return


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
        "time": f"{at.date}{'T' * bool(at.date)}{at.time}{'Z' * bool(at.utc)}",
        "cpu in %": "" if load is None else written(max(0.0, load)),
        "packet/s": written(packets) if devices else "",
        "byte/s": written(kilobytes * _KIB) if devices else "",
    }
