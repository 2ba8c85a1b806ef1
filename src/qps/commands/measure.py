"""`qps measure`: a load generator run at each setting, and what the server uses meanwhile."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from qps.atomic_files import LockedError, lock
from qps.commands.arguments.measure_request import MeasureRequest, request_of
from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.commands.terminal.progress import Progress
from qps.commands.terminal.signals import ended_in_order
from qps.compiler.measurement.campaigns.campaign import CampaignRecords, left, turns
from qps.compiler.measurement.campaigns.campaign_axes import IDLE, Setting
from qps.compiler.measurement.campaigns.control_groups import new_group_or_none
from qps.compiler.measurement.campaigns.measured_rows import (
    PACKET,
    TableLayout,
    named_setting,
    rows_of,
    table_text,
)
from qps.compiler.measurement.campaigns.measured_run import RunEnvironment
from qps.compiler.measurement.campaigns.measured_servers import (
    Server,
    accounts_of,
    cores_of,
    started,
)
from qps.compiler.measurement.campaigns.network_namespace import enter_own_network
from qps.compiler.measurement.campaigns.preflight_checks import probed, quiet
from qps.compiler.measurement.campaigns.process_table import is_supported
from qps.compiler.measurement.campaigns.processor_accounts import Account, MeasuringError
from qps.compiler.measurement.campaigns.row_doubts import doubts
from qps.compiler.measurement.campaigns.run_conditions import Conditions, conditions
from qps.compiler.measurement.campaigns.run_records import (
    SCHEMA,
    CampaignData,
    changed,
    encoded,
    read_runs,
    runs_file,
    write_whole,
)
from qps.compiler.measurement.campaigns.run_results import FailedRun, MeasuredRun
from qps.compiler.measurement.campaigns.supervision import prepare
from qps.compiler.measurement.measured_tables import number
from qps.compiler.quantities.units import built_in
from qps.links import resolved_path
from qps.reports.text.measurements.measurement_text import (
    MeasuredView,
    measured_json,
    measured_text,
)
from qps.reports.text.words.phrases import phrase

STEP = "step"
_BETWEEN = 0.2
"""Seconds that a run takes beside its window."""


def run(arguments: Namespace) -> Exit:
    """Measure a server under load, or a step by itself."""
    if not is_supported():
        raise complain(
            f"`qps measure` requires Linux, and this is {sys.platform}",
            "run it on the Linux machine of the server",
        )
    try:
        if arguments.what == STEP:
            from qps.commands.measure_step import measure_step  # noqa: PLC0415

            return measure_step(arguments)
        request = request_of(arguments)
        if arguments.dry_run:
            return _dry(request)
        _check_files(request, resume=arguments.resume)
        if request.plan.own_network:
            enter_own_network()
        prepare()
        with ended_in_order(), _alone(request):
            return _measure(request, arguments)
    except MeasuringError as error:
        raise complain(error.message, error.hint or None) from error


def _check_files(request: MeasureRequest, *, resume: bool) -> None:
    """Refuse to write over what was measured before."""
    if not request.table.parent.is_dir():
        raise complain(f"folder `{request.table.parent}` does not exist", "create it first")
    there = [path for path in (request.table, runs_file(request.table)) if path.exists()]
    if there and not resume:
        raise complain(
            f"`{there[0]}` already exists",
            "continue it with `--resume`, remove it, or name another file",
        )


@contextmanager
def _alone(request: MeasureRequest) -> Iterator[None]:
    """Hold the table that is measured: two that go on with one would lose each other's runs."""
    path = runs_file(request.table)
    with ExitStack() as stack:
        try:
            stack.enter_context(lock(resolved_path(path)))
        except LockedError as error:
            raise MeasuringError(
                f"another run is writing `{path}`: {error}",
                "wait until it ends, or name another file",
            ) from error
        except OSError as error:
            raise MeasuringError(
                f"cannot write `{path}`: {error.strerror or error}", "choose another path"
            ) from error
        yield


def _dry(request: MeasureRequest) -> Exit:
    """Tell what would be run, in which order, and how long it would take."""
    order = turns(request.settings, request.repeat, request.seed)
    bench = _bench(request, {})
    seconds = (
        request.plan.seconds + _BETWEEN + request.plan.warm_up * (request.plan.source is not None)
    )
    print(
        phrase(
            "measure.plan",
            runs=len(order),
            settings=len(request.settings),
            seconds=len(order) * seconds,
        )
    )
    if request.plan.server is not None:
        print(f"  server: {request.plan.server}")
    for setting, _ in order:
        if setting == IDLE and request.axes:
            print(phrase("measure.no_load"))
        else:
            print(f"  {shlex.join(bench.command(setting, request.plan.seconds))}")
    return Exit.YES


def _bench(request: MeasureRequest, accounts: dict[str, Account]) -> RunEnvironment:
    return RunEnvironment(
        axes=request.axes,
        generator=request.plan.generator,
        counts=request.counts,
        source=request.plan.source,
        warm_up=request.plan.warm_up,
        accounts=accounts,
        interface=request.plan.interface,
        groups=partial(new_group_or_none, "qps-generator"),
    )


def _measure(request: MeasureRequest, arguments: Namespace) -> Exit:
    earlier = (
        read_runs(runs_file(request.table)) if _goes_on(request, resume=arguments.resume) else None
    )
    if earlier is not None:
        difference = changed(earlier.plan, request.plan)
        if difference is not None:
            raise complain(
                f"`{runs_file(request.table)}` was measured with other settings: {difference}",
                "use the same settings, or name another file",
            )
    with ExitStack() as stack:
        server = None
        if request.plan.server is not None:
            server = stack.enter_context(started(shlex.split(request.plan.server)))
        accounts = accounts_of(request.names, server)
        bench = _bench(request, accounts)
        cores = _cores(request, accounts)
        layout = TableLayout(
            axes=request.axes,
            items=request.items,
            cores=cores,
            machine_cores=os.cpu_count() or 1,
        )
        here = conditions(
            {name: one.source for name, one in accounts.items()}, cores, arguments.record
        )
        if earlier is not None and not here.is_machine_of(earlier.conditions):
            raise complain(
                f"`{runs_file(request.table)}` was measured on another machine: "
                f"{earlier.conditions.machine}",
                f"this is {here.machine}; write to another file",
            )
        _check_first(bench, request, layout, server, arguments)
        return _campaign(request, bench, layout, here, earlier, server, arguments)


def _goes_on(request: MeasureRequest, *, resume: bool) -> bool:
    return resume and (runs_file(request.table).exists() or request.table.exists())


def _cores(request: MeasureRequest, accounts: dict[str, Account]) -> float:
    if request.plan.cores is None:
        return cores_of(accounts)
    cores = number(request.plan.cores)
    if cores is None or cores <= 0:
        raise complain(
            f"`--cores` must be a number of cores, not `{request.plan.cores}`", "write `--cores 4`"
        )
    return float(cores)


def _check_first(
    bench: RunEnvironment,
    request: MeasureRequest,
    layout: TableLayout,
    server: Server | None,
    arguments: Namespace,
) -> None:
    """Check machine, generator and counts before anything is measured, and report what is wrong."""
    warnings = []
    if server is not None and server.why_no_group is not None:
        warnings.append(phrase("measure.by_process", reason=server.why_no_group))
    if server is not None and not server.is_ready:
        warnings.append(phrase("measure.no_socket"))
    if arguments.check:
        warnings += quiet(bench, layout.machine_cores)
        warnings += probed(bench, request.settings, request.plan.seconds, layout)
    if not arguments.quiet:
        for text in warnings:
            print(f"warning: {text}", file=sys.stderr)


def _campaign(
    request: MeasureRequest,
    bench: RunEnvironment,
    layout: TableLayout,
    here: Conditions,
    measured: CampaignData | None,
    server: Server | None,
    arguments: Namespace,
) -> Exit:
    def store(runs: Sequence[MeasuredRun], failures: Sequence[FailedRun]) -> None:
        all_of_it = CampaignData(
            schema=SCHEMA,
            plan=request.plan,
            repeat=request.repeat,
            seed=request.seed,
            conditions=here if measured is None else measured.conditions,
            runs=tuple(runs),
            failures=tuple(failures),
        )
        write_whole(runs_file(request.table), encoded(all_of_it))
        if runs:
            text = table_text(rows_of(runs, request.settings, layout), layout)
            write_whole(request.table, text.encode())

    records = CampaignRecords(
        store,
        [] if measured is None else list(measured.runs),
        [] if measured is None else list(measured.failures),
    )
    order = turns(request.settings, request.repeat, request.seed)
    waiting = left(order, records.runs)
    if not waiting:
        store(records.runs, records.failures)  # as this version lays it out
    try:
        with Progress(total=len(waiting), quiet=arguments.quiet, unit=None) as progress:

            def measure(setting: Setting, repetition: int) -> MeasuredRun:
                name = named_setting(setting, request.axes)
                run = len(order) - len(waiting) + int(progress.done) + 1
                done = phrase("measure.progress", run=run, runs=len(order))
                progress.advance(0, f"{done}: {name}")
                found = bench.run(setting, repetition, request.plan.seconds)
                progress.advance(1)
                return found

            records.measure(waiting, measure, lambda: server.ended() if server else None)
    except KeyboardInterrupt:
        file = runs_file(request.table)
        stopped = phrase("measure.stopped", runs=len(records.runs), all=len(order), file=file)
        print(stopped, file=sys.stderr)
        raise
    _show(request, layout, here, records, len(order), arguments)
    return Exit.YES if len(records.runs) >= len(order) else Exit.NO


def _show(
    request: MeasureRequest,
    layout: TableLayout,
    here: Conditions,
    records: CampaignRecords,
    count: int,
    arguments: Namespace,
) -> None:
    rows = rows_of(records.runs, request.settings, layout)
    own = [unit for unit in request.own_units if built_in(unit) is None and unit in request.items]
    view = MeasuredView(
        table=str(request.table),
        runs_file=str(runs_file(request.table)),
        layout=layout,
        rows=tuple(rows),
        doubts=tuple(
            doubts(
                rows,
                layout,
                is_here=request.plan.interface == "lo"
                and any(row.rates.get(PACKET) for row in rows),
                loopback_mtu=here.loopback_mtu,
            )
        ),
        failures=tuple(records.failures),
        conditions=here,
        run_count=len(records.runs),
        planned_count=count,
        stopped=None if records.stopped is None else records.stopped.reason,
        own_units=tuple(own),
    )
    if arguments.format == "json":
        print_json(measured_json(view))
    else:
        sys.stdout.write(measured_text(view, width_of(sys.stdout)))
