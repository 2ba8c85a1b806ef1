"""What `qps observe` takes, source by source, and what holds such tables against a spec."""

from __future__ import annotations

import argparse
from pathlib import Path

from qps.commands.arguments.common_arguments import USUAL_CHOICE, HelpFormatter
from qps.commands.arguments.trace_arguments import (
    declare_manifests,
    declare_service_graph,
    declare_traces,
    takes_existing_spec,
    takes_output_flags,
)
from qps.compiler.measurement.observations.measurement_sources import FLAGS, SOURCES
from qps.compiler.measurement.observations.source_layouts import MeasurementTool

AUTO = "auto"
"""What recognizes files by their content."""
_ROWS = 200


def declare_sources(command: argparse.ArgumentParser, epilog: str) -> None:
    """Add a command of its own for each source."""
    sources = command.add_subparsers(dest="source", metavar="SOURCE", required=True)
    command.set_defaults(**{USUAL_CHOICE: AUTO})
    files = {name: source.files for name, source in SOURCES.items()}
    declare_traces(sources, epilog)
    declare_manifests(sources, epilog)
    declare_service_graph(sources, epilog)
    texts = {
        AUTO: "files of any of these formats, each recognized by its content (the default)",
        "prometheus": "counters from a Prometheus server",
        **files,
    }
    for name, help_text in texts.items():
        one = sources.add_parser(
            name,
            help=help_text,
            description=f"Convert {'' if name == AUTO else f'{name} '}data to a table for "
            f"`qps fit`.\n\nInput: {help_text}.",
            epilog=epilog,
            formatter_class=HelpFormatter,
        )
        one.add_argument(
            "-o",
            "--output",
            metavar="FILE.csv",
            type=Path,
            help="write to this file [default: standard output]",
        )
        takes_output_flags(one)
        if name == "prometheus":
            _prometheus(one)
        elif name == AUTO:
            _files(one)
        else:
            _tool(one, SOURCES[name])


def _prometheus(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "url", metavar="URL", help="address of the server, such as http://127.0.0.1:9090"
    )
    command.add_argument(
        "--cpu",
        metavar="QUERY",
        required=True,
        help="PromQL query for a counter of CPU seconds",
    )
    command.add_argument(
        "--rate",
        metavar="ITEM=QUERY",
        action="append",
        default=[],
        required=True,
        help="PromQL query for a workload counter: request=…, byte=…; repeatable",
    )
    command.add_argument(
        "--since",
        metavar="TIME",
        default="7d",
        help="start this far back: 7d, 12h, 90m [default: 7d]",
    )
    command.add_argument(
        "--until",
        metavar="MOMENT",
        help="stop at this time, such as 2026-11-16T00:00Z [default: now]",
    )
    command.add_argument(
        "--window",
        metavar="TIME",
        default="5m",
        help="average over windows of this length [default: 5m]",
    )
    command.add_argument(
        "--cores", metavar="N", help="report CPU in %% of N cores [default: in cores]"
    )
    command.add_argument(
        "--rows",
        metavar="COUNT",
        type=int,
        default=_ROWS,
        help=f"write at most this many rows, evenly spread over utilization [default: {_ROWS}]",
    )
    command.add_argument("--add-up", action="store_true", help="sum all series of a query")
    command.add_argument(
        "--proxy",
        metavar="URL",
        help="use this HTTP proxy, which can read http:// traffic [default: for https://, the "
        "proxy of the environment]",
    )


def _files(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help="files to read")
    command.add_argument(
        "--as",
        dest="tool",
        metavar="FORMAT",
        help="read all files as this format [default: recognized by their content]",
    )
    for name in FLAGS:
        _add_flag(command, name, FLAGS[name].default)
    takes_existing_spec(
        command,
        "compare the service demands of this spec with the runs, and if they have drifted, use the "
        "new table (`-o`) in it; all else in it stays",
    )


def _tool(command: argparse.ArgumentParser, source: MeasurementTool) -> None:
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help=source.files)
    for name in source.takes:
        is_window = name == "window" and source.window
        _add_flag(command, name, source.window or "" if is_window else FLAGS[name].default)


def _add_flag(command: argparse.ArgumentParser, name: str, default: str) -> None:
    flag = FLAGS[name]
    command.add_argument(
        f"--{name}",
        metavar=flag.metavar,
        action="append" if flag.repeats else "store",
        help=f"{flag.help} [default: {default}]",
    )


def declare_drift(command: argparse.ArgumentParser) -> None:
    """Add what tests whether a system is still what its spec says."""
    command.add_argument(
        "--observed",
        metavar="FILE.csv",
        type=Path,
        help="detect drift: compare service demands of one spec with these runs",
    )
    command.add_argument(
        "--of",
        metavar="COMPONENT",
        action="append",
        default=[],
        help="with --observed: component to compare, if several match; repeat to compare their sum",
    )
    command.add_argument(
        "--resource", metavar="NAME", help="with --observed: resource to compare [default: cpu]"
    )
    command.add_argument(
        "--tolerance",
        metavar="PERCENT",
        help="with --observed: ignore drift that changes utilization by less [default: 5 %%]",
    )
    command.add_argument(
        "--chance",
        metavar="PERCENT",
        help="with --observed: false-alarm rate [default: 1 %%]",
    )
