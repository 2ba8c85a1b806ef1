"""What the sources of `qps observe` take that give a spec: traces, metrics, manifests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from qps.commands.arguments.common_arguments import HelpFormatter

_HELP = "distributed traces as OTLP, Jaeger or Zipkin JSON: writes a spec, not a table"
_METRICS = "metrics of service graphs and CPU of pods, saved from a Prometheus: writes a spec"
_MANIFESTS = "manifests of Kubernetes, compose or Terraform: writes a spec, not a table"


def declare_traces(sources: Any, epilog: str) -> None:
    """Add the source that gives a spec."""
    command = sources.add_parser(
        "traces",
        help=_HELP,
        description="Write a spec of the system that distributed traces show.\n\n"
        "Input: OTLP (JSON, JSON lines, protobuf), Jaeger JSON, Zipkin v2 JSON.",
        epilog=epilog,
        formatter_class=HelpFormatter,
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="files of traces, of one system"
    )
    _takes_new_spec(command)
    _takes_clients(command)
    command.add_argument(
        "--cpu",
        metavar="FILE.csv",
        type=Path,
        help="table with columns such as `service`, `time`, `cpu (cores)` and `requests/s`: "
        "processor time per request",
    )
    command.add_argument(
        "--cpu-unit",
        choices=("cores", "millicores", "percent"),
        help="unit of the CPU column; `percent` is of one core [default: by its heading]",
    )
    takes_output_flags(command)


def declare_manifests(sources: Any, epilog: str) -> None:
    """Add the source that gives a spec of what manifests deploy."""
    command = sources.add_parser(
        "manifests",
        help=_MANIFESTS,
        description="Write a spec of the machines, counts and limits that manifests state.\n\n"
        "Input: Kubernetes (YAML or JSON), compose files, output of `terraform show -json`.",
        epilog=epilog,
        formatter_class=HelpFormatter,
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="manifests of one system"
    )
    _takes_new_spec(command)
    takes_output_flags(command)


def declare_service_graph(sources: Any, epilog: str) -> None:
    """Add the source that gives a spec of what metrics show."""
    command = sources.add_parser(
        "service-graph",
        help=_METRICS,
        description="Write a spec of the system that metrics of a service graph show.\n\n"
        "Input: results of queries to a Prometheus (`/api/v1/query_range`) for "
        "`traces_service_graph_request_total` or `istio_requests_total`, and for "
        "`container_cpu_usage_seconds_total`.",
        epilog=epilog,
        formatter_class=HelpFormatter,
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="saved metrics of one system"
    )
    _takes_new_spec(command)
    _takes_clients(command)
    takes_output_flags(command)


def _takes_clients(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--client",
        metavar="SERVICE",
        action="append",
        default=[],
        help="this service stands for users, such as a load generator, and is no part of the "
        "system; repeatable",
    )


def takes_output_flags(command: argparse.ArgumentParser) -> None:
    """Add what also stands before the source: it holds where nothing stands behind it."""
    command.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        default=argparse.SUPPRESS,
        help="print only warnings",
    )
    command.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default=argparse.SUPPRESS,
        help="color diagnostics [default: auto]",
    )


def _takes_new_spec(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE.qps",
        type=Path,
        help="write to this file, which must not exist [default: standard output]",
    )
    takes_existing_spec(
        command,
        "instead of writing a new spec, replace the observed numbers of this one if any has "
        "drifted; all else in it stays",
    )


def takes_existing_spec(command: argparse.ArgumentParser, help_text: str) -> None:
    """Add what brings a spec up to date."""
    command.add_argument(
        "--into",
        metavar="FILE.qps",
        type=Path,
        help=help_text,
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="with `--into`: print what would change, without writing; status 1 if anything would",
    )
    command.add_argument(
        "--replace",
        metavar="NAME",
        action="append",
        default=[],
        help="with `--into`: replace this number even if it has another source; repeatable",
    )
