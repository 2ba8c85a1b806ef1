"""The request of the command line of `qps measure`, read and checked."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from qps.commands.terminal.console import complain
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.campaigns.campaign_axes import (
    IDLE,
    SECONDS,
    CampaignAxis,
    Setting,
    axis,
    filled,
    names_in,
    settings_of,
)
from qps.compiler.measurement.campaigns.item_counts import Count, count_of
from qps.compiler.measurement.campaigns.run_records import CampaignPlan
from qps.compiler.measurement.fit_columns import UnitOf
from qps.compiler.measurement.measured_tables import number


class MeasureRequest(Struct, frozen=True, kw_only=True):
    """What the command line requests, read and checked."""

    table: Path
    plan: CampaignPlan
    axes: tuple[CampaignAxis, ...]
    settings: tuple[Setting, ...]
    counts: tuple[Count, ...]
    names: tuple[tuple[str, str], ...]
    own_units: tuple[str, ...]
    repeat: int
    seed: int

    @property
    def items(self) -> tuple[str, ...]:
        """The items that are counted, in order."""
        return tuple(count.item for count in self.counts)


def request_of(arguments: Namespace) -> MeasureRequest:
    """Return what is requested; QpsError or MeasuringError where that cannot be measured."""
    _check_flags(arguments)
    units = units_with(arguments.unit)
    axes = tuple(axis(text, units) for text in arguments.vary)
    settings = settings_of(axes)
    if arguments.idle and not axes:
        raise complain("`--idle` requires `--vary`", "add `--vary 'rate in 100, 200 request/s'`")
    if arguments.idle:
        settings = (IDLE, *settings)
    counts = tuple(count_of(text, _item(axes)) for text in arguments.count)
    _check_items(counts, units)
    unused = {one.name for one in axes} - set(names_in(arguments.program))
    if unused:
        name = min(unused)
        raise complain(
            f"the generator command does not use `{name}`, which is varied",
            f"write `{{{name}}}` where the value belongs",
        )
    plan = _plan(arguments)
    # Refuses a name in braces that nothing varies.
    filled(plan.generator, dict.fromkeys({one.name for one in axes} | {SECONDS}, "1"))
    return MeasureRequest(
        table=Path(arguments.what),
        plan=plan,
        axes=axes,
        settings=settings,
        counts=counts,
        names=tuple(_column_and_name(text) for text in arguments.of),
        own_units=tuple(arguments.unit),
        repeat=arguments.repeat,
        seed=arguments.seed,
    )


def _check_flags(arguments: Namespace) -> None:
    """Refuse what cannot be measured, whatever is varied and counted."""
    table = Path(arguments.what)
    if table.suffix != ".csv":
        raise complain(
            f"`{table}` is not a `.csv` file",
            "name a `.csv` file, or `step` to measure a single command",
        )
    if not arguments.program:
        raise complain(
            "the load generator is missing", "add it after `--`: `-- h2load --rps {rate} …`"
        )
    if not arguments.of and arguments.server is None:
        raise complain(
            "the server to measure is missing",
            "add `--of nginx` for a running server, or `--server 'COMMAND'` to start one",
        )
    if arguments.own_network and arguments.of:
        raise complain(
            "`--own-network` does not work with `--of`",
            "start the server with `--server 'COMMAND'`",
        )
    if not arguments.count:
        raise complain(
            "the number of completed items is not counted",
            r"add `--count 'requests: (\d+)'` to read it from the generator's output; "
            r"with `--from`, from a status page or another command",
        )


def _plan(arguments: Namespace) -> CampaignPlan:
    """Return the request in the words of the command line."""
    return CampaignPlan(
        of=tuple(arguments.of),
        server=arguments.server,
        vary=tuple(arguments.vary),
        idle=arguments.idle,
        seconds=_seconds(arguments.seconds, "--seconds"),
        warm_up=_seconds(arguments.warm_up, "--warm-up", least=0.0),
        counts=tuple(arguments.count),
        source=arguments.source,
        interface=None if arguments.interface == "none" else arguments.interface,
        cores=arguments.cores,
        own_network=arguments.own_network,
        generator=tuple(arguments.program),
    )


def _item(axes: Sequence[CampaignAxis]) -> str:
    """Return what is counted where a count names nothing: what is requested."""
    items = [one.item for one in axes if one.dimension != axes[0].dimension or one.item]
    own = [item for item in items if item not in (None, "information")]
    sized = [one.sized for one in axes if one.sized]
    return next((item for item in (*own, *sized) if item is not None), "request")


def _check_items(counts: Sequence[Count], units: UnitOf) -> None:
    names = [count.item for count in counts]
    for name in names:
        if units(f"{name}/s") is None:
            raise complain(
                f"unknown item `{name}`", f"declare it with `--unit {name}`, or count `request=…`"
            )
        if names.count(name) > 1:
            raise complain(f"`{name}` is counted twice", "remove one `--count`")


def _column_and_name(text: str) -> tuple[str, str]:
    """Return the column of a program, and how it is found: `proxy=haproxy`, `nginx`."""
    column, sign, name = text.partition("=")
    if sign and column.isidentifier() and name:
        return column, name
    return "cpu", text


def _seconds(text: str, flag: str, least: float = 0.1) -> float:
    value = number(text.removesuffix("s").strip())
    if value is None or not least <= value <= 86_400:  # noqa: PLR2004 - a day
        raise complain(f"`{flag}` must be a number of seconds, not `{text}`", f"write `{flag} 5`")
    return float(value)
