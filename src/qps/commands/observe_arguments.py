"""What `qps observe` takes, source by source, and what holds such tables against a spec."""

from __future__ import annotations

import argparse
from pathlib import Path

_TOOLS = {
    "k6": "k6: a summary, as JSON or printed; or points, --out csv or json",
    "wrk": "what wrk printed (percentiles with its --latency)",
    "h2load": "what h2load printed, or its --log-file",
    "jmeter": "results of JMeter, as CSV (-l run.jtl)",
    "pgbench": "what pgbench printed, or logs of its transactions (--log)",
    "sysbench": "what sysbench printed",
    "sar": "what `sadf -j FILE -- -u -n DEV` wrote, or sar printed",
    "pcap": "packet captures of tcpdump or Wireshark",
}
_ROWS = 200


def declare_sources(command: argparse.ArgumentParser, epilog: str) -> None:
    """Add a command of its own for each source."""
    sources = command.add_subparsers(dest="source", metavar="SOURCE", required=True)
    for name, help_text in {"prometheus": "counters of a Prometheus", **_TOOLS}.items():
        one = sources.add_parser(
            name,
            help=help_text,
            description=f"{help_text[0].upper()}{help_text[1:]}.",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.add_argument(
            "-o",
            "--output",
            metavar="FILE.csv",
            type=Path,
            help="where to (default: standard output)",
        )
        # What stands before the source holds where nothing stands behind it.
        one.add_argument(
            "-q",
            "--quiet",
            action="store_true",
            default=argparse.SUPPRESS,
            help="tell warnings only",
        )
        one.add_argument(
            "--color",
            choices=["auto", "always", "never"],
            default=argparse.SUPPRESS,
            help="colour diagnostics",
        )
        if name == "prometheus":
            _prometheus(one)
        else:
            _tool(one, name)


def _prometheus(command: argparse.ArgumentParser) -> None:
    command.add_argument("url", metavar="URL", help="of the server: http://127.0.0.1:9090")
    command.add_argument(
        "--cpu",
        metavar="QUERY",
        required=True,
        help="a counter of the seconds of processors that were used",
    )
    command.add_argument(
        "--rate",
        metavar="ITEM=QUERY",
        action="append",
        default=[],
        required=True,
        help="a counter of what causes the load: request=…, byte=…; repeatable",
    )
    command.add_argument(
        "--since", metavar="TIME", default="7d", help="how far back: 7d, 12h, 90m (default 7d)"
    )
    command.add_argument(
        "--until", metavar="MOMENT", help="to then, such as 2026-11-16T00:00Z (default: now)"
    )
    command.add_argument(
        "--window",
        metavar="TIME",
        default="5m",
        help="of all columns, and as long as the steps (default 5m)",
    )
    command.add_argument(
        "--cores", metavar="N", help="tell the load in %% of so many (default: in cores)"
    )
    command.add_argument(
        "--rows",
        metavar="COUNT",
        type=int,
        default=_ROWS,
        help=f"keep so many at most, spread over the loads (default {_ROWS})",
    )
    command.add_argument(
        "--add-up", action="store_true", help="take all series of a query together"
    )
    command.add_argument(
        "--proxy",
        metavar="URL",
        help="ask by this HTTP proxy, which reads what is sent to http:// (default: none, or that "
        "of the environment for https:// to another machine)",
    )


def _tool(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help=_TOOLS[name])
    if name in ("jmeter", "k6", "pgbench", "h2load", "pcap"):
        command.add_argument(
            "--window",
            metavar="TIME",
            default="1s" if name == "pcap" else None,
            help="a row for each such stretch of time"
            + (" (default 1s)" if name == "pcap" else " (default: one for all)"),
        )
    if name == "sar":
        command.add_argument(
            "--interface", metavar="NAME", help="count its packets (default: all but lo)"
        )
    elif name != "pcap":
        command.add_argument(
            "--item",
            metavar="NAME",
            default="request",
            help="what is done: the heading is NAME/s (default request)",
        )


def declare_drift(command: argparse.ArgumentParser) -> None:
    """Add what asks whether a system is still what its spec says."""
    command.add_argument(
        "--observed",
        metavar="FILE.csv",
        type=Path,
        help="hold the costs of one spec against these runs instead: which one has moved?",
    )
    command.add_argument(
        "--of",
        metavar="COMPONENT",
        action="append",
        default=[],
        help="with --observed: whose costs, where several could be meant; several add up",
    )
    command.add_argument(
        "--resource", metavar="NAME", help="with --observed: of which resource (default: cpu)"
    )
    command.add_argument(
        "--tolerance",
        metavar="SHARE",
        help="with --observed: what moves the load by less is let pass (default: 5 %%)",
    )
    command.add_argument(
        "--chance",
        metavar="SHARE",
        help="with --observed: how often noise alone may be told as a move (default: 1 %%)",
    )
