"""`qps measure step`: one step by itself, as a component to paste."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from functools import partial

from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.commands.terminal.progress import Progress
from qps.commands.terminal.signals import ended_in_order
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.campaigns.campaign import turns
from qps.compiler.measurement.campaigns.campaign_axes import axis, names_in, settings_of
from qps.compiler.measurement.campaigns.control_groups import new_group_or_none
from qps.compiler.measurement.campaigns.item_counts import count_of
from qps.compiler.measurement.campaigns.step_runs import StepBench, item_of, step_of
from qps.reports.text.measurements.measurement_text import step_component, step_json, step_text


def measure_step(arguments: Namespace) -> Exit:
    """Run a command with so many items, several times, and report what each of them costs."""
    if not arguments.program:
        raise complain(
            "the command to measure is missing", "add it after `--`: `-- ./filter {count}`"
        )
    for flag in ("of", "server", "source", "cores", "record", "idle", "resume", "own_network"):
        if getattr(arguments, flag):
            name = "--from" if flag == "source" else f"--{flag.replace('_', '-')}"
            raise complain(f"`qps measure step` does not take `{name}`")
    units = units_with(arguments.unit)
    axes = tuple(axis(text, units) for text in arguments.vary)
    command = tuple(arguments.program)
    unused = {one.name for one in axes if len(one.values) > 1} - set(names_in(command))
    if unused:
        name = min(unused)
        raise complain(
            f"the command does not use `{name}`, which is varied",
            f"write `{{{name}}}` where the value belongs",
        )
    counts = [count_of(text, "") for text in arguments.count]
    item = item_of(axes, counts)
    counts = [count_of(text, item) for text in arguments.count]
    bench = StepBench(
        axes=axes,
        command=command,
        counts=tuple(counts),
        item=item,
        groups=partial(new_group_or_none, "qps-step"),
    )
    order = turns(settings_of(axes), arguments.repeat, arguments.seed)
    if arguments.dry_run:
        for setting, _ in order:
            print(shlex.join(bench.filled(setting)))
        return Exit.YES
    runs = []
    with (
        ended_in_order(),
        Progress(total=len(order), quiet=arguments.quiet, unit=None) as progress,
    ):
        for setting, _ in order:
            runs.append(bench.run(setting))
            progress.advance(1, shlex.join(bench.filled(setting)))
    step = step_of(runs, item)
    shown = shlex.join(command)
    component = step_component(step, shown, os.cpu_count() or 1)
    if arguments.format == "json":
        print_json(step_json(step, component))
    else:
        sys.stdout.write(step_text(step, component, shown, width_of(sys.stdout)))
    return Exit.YES
