"""Commands and flags as other tools have them, and what is written here instead."""

from __future__ import annotations

COMMANDS_ELSEWHERE = {
    "analyze": "solve",
    "apply": "solve",
    "build": "solve",
    "calc": "solve",
    "capacity": "solve",
    "compare": "diff",
    "cost": "plan",
    "eval": "solve",
    "export": "report",
    "forecast": "solve",
    "format": "fmt",
    "graph": "report",
    "html": "report",
    "import": "observe",
    "init": "new",
    "lint": "check",
    "optimize": "plan",
    "play": "simulate",
    "predict": "solve",
    "run": "solve",
    "show": "explain",
    "sim": "simulate",
    "size": "plan",
    "sizing": "plan",
    "sweep": "matrix",
    "validate": "check",
    "verify": "test",
    "whatif": "solve",
}
"""Which command does what a word of other tools says."""

_PERCENTILE = "a percentile is a measure of a stream: `qps explain SPEC NAME.p99`, or `--all`"
_LOAD = "set the parameter that states it: `--set 'rate = 100 request/s'`"
_FILE = "`qps report SPEC -o page.html` writes a file"

_FLAGS_ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    # flags as they are written, the flag here that does it (empty: each command), and what to write
    ("--json", "--format", "write `--format json`"),
    ("--markdown --md", "--format", "write `--format markdown`"),
    ("--html --output -o --out", "--all", _FILE),
    ("-v --verbose --details --full", "--all", "write `--all`"),
    ("--users --population --clients --vus --concurrency -N -n", "--at", "write `--at 500`"),
    ("-c --connections --threads", "--at", "write `--at 500` for a population"),
    ("--rps --qps --rate --load --throughput", "--set", _LOAD),
    ("-D -p --param --var --define -e", "--set", "write `--set 'NAME = VALUE'`"),
    ("--p50 --p90 --p95 --p99 --percentile --percentiles", "", _PERCENTILE),
    ("--until --duration --time", "--time-limit", "write `--time-limit 60s`"),
)


def flag_here(flag: str, flags: list[str]) -> str | None:
    """Return what to write for a flag of other tools, where a command has `flags`; else None."""
    return next(
        (
            hint
            for words, needed, hint in _FLAGS_ELSEWHERE
            if flag in words.split() and (not needed or needed in flags)
        ),
        None,
    )
