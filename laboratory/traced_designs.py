"""The traced systems of the laboratory: their services, quotas, and the answers of their owners."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct

from cpu_quotas import CpuQuotas
from servers import free_ports

Database = Callable[[CpuQuotas, Path, ExitStack], str]


class ServiceDesign(Struct, frozen=True, kw_only=True):
    """A service: a quota in cores, and its settings; one in Go or in Python."""

    quota: float
    settings: Mapping[str, Any]
    language: str = "python"

    def program(self, python: str, here: Path, folder: Path) -> list[str]:
        """Return the command that starts it; what is built for that is in `folder`."""
        if self.language == "go":
            built, source = folder / "built", here / self.settings["program"]
            subprocess.run(["go", "build", "-o", str(built), "."], check=True, cwd=source)
            return ["env", "GOMAXPROCS=1", str(built)]
        return [python, str(here / "traced_service.py")]


class TracedDesign(Struct, frozen=True, kw_only=True):
    """A system: its services, the first of which is asked; `mix` has the share of each path.

    `answers` are what its owner knows, by patterns of the lines of the spec that they replace.
    """

    name: str
    title: str
    notes: str
    services: Mapping[str, ServiceDesign]
    mix: Mapping[str, float]
    answers: tuple[tuple[str, str], ...] = ()
    database: Database | None = None

    @property
    def front(self) -> str:
        """The service that is asked."""
        return next(iter(self.services))

    @property
    def accounts(self) -> tuple[str, ...]:
        """The groups whose processor time is counted."""
        return (*self.services, *(("postgresql shop",) if self.database else ()))

    def answered(self, text: str) -> str:
        """Return a spec with the questions answered; ValueError where one is not there."""
        for pattern, answer in self.answers:
            text, count = re.subn(pattern, answer, text, flags=re.MULTILINE | re.DOTALL)
            if not count:
                raise ValueError(f"nothing in the spec is like {pattern}")
        return text


def _quota(name: str, cores: float) -> tuple[str, str]:
    """Return the answer to how many cores a service has."""
    return rf"^param {name}_cores( *)= 1 in 1\.\.1024", rf"param {name}_cores\1= {cores} in 0.01..8"


_QUOTAS = (r"queueing mmc", "queueing quota per 100 ms on 2 core")

_SHOP = {"gateway": 0.25, "catalog": 0.15, "prices": 0.10, "store": 0.15}
SHOP = TracedDesign(
    name="shop",
    title="Shop: gateway, catalog (Go, with a cache), prices and store; a fork",
    notes=(
        "Two kinds of requests; the quota of the prices is the bottleneck, as predicted. At "
        "capacity a request of the prices took 4.89 ms of CPU, at low load 4.63 ms: many threads "
        "and throttling cost some. The spec has one cost for each service, while the prices have "
        "two operations, of 4 and 2 ms."
    ),
    mix={"/product": 0.7, "/order": 0.3},
    services={
        "gateway": ServiceDesign(
            quota=_SHOP["gateway"],
            settings={
                "routes": {
                    "/product": [
                        ["burn", 1],
                        ["call", "catalog", "/list"],
                        ["together", ["prices", "/price"], ["store", "/stock"]],
                    ],
                    "/order": [["call", "store", "/order"], ["call", "prices", "/total"]],
                }
            },
        ),
        "catalog": ServiceDesign(
            quota=_SHOP["catalog"],
            settings={"program": "catalog", "cache": 60, "burn": 2},
            language="go",
        ),
        "prices": ServiceDesign(
            quota=_SHOP["prices"],
            settings={"routes": {"/price": [["burn", 4]], "/total": [["burn", 2]]}},
        ),
        "store": ServiceDesign(
            quota=_SHOP["store"],
            settings={
                "routes": {"/item": [["burn", 3]], "/stock": [["burn", 2]], "/order": [["burn", 5]]}
            },
        ),
    },
    answers=(*(_quota(name, cores) for name, cores in _SHOP.items()), _QUOTAS),
)


def _postgres(quotas: CpuQuotas, folder: Path, _: ExitStack) -> str:
    """Start a database, and return how it is reached."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    data = folder / "data"
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    owner = ["-o", "postgres"] if user else []
    subprocess.run(["install", "-d", *owner, "-m", "700", str(data)], check=True)
    folder.chmod(0o755)
    initial = [*user, str(programs / "initdb"), "-N", "-D", str(data), "-A", "trust"]
    subprocess.run([*initial, "-U", "postgres"], check=True, stdout=subprocess.DEVNULL)
    (port,) = free_ports(1)
    flags = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
    command = [*user, str(programs / "postgres"), "-D", str(data), "-p", str(port), *flags]
    quotas.start("postgresql shop", command, 0.5, folder / "postgres.log")
    return f"host=127.0.0.1 port={port} user=postgres dbname=postgres"


_POOL = 2
POOLED = TracedDesign(
    name="pool",
    title="Two database connections: API, PostgreSQL",
    notes=(
        "The pool of two connections is the bottleneck, as predicted. A request holds one for two "
        "queries, which are 38.7 ms by spans. The rest, in which a connection passes from one "
        "thread to the next, takes 1.2 ms at capacity, and is in no span. A second run had "
        "50.5 /s, predicted as 52.1 /s (51.4 to 52.6 /s): +3.1 %."
    ),
    mix={"/report": 1.0},
    services={
        "api": ServiceDesign(
            quota=0.5,
            settings={
                "pool": _POOL,
                "routes": {
                    "/report": [
                        ["burn", 1],
                        [
                            "query",
                            "select pg_sleep(0.025), count(*) from generate_series(1, 2000)",
                            "select pg_sleep(0.010)",
                        ],
                        ["burn", 1],
                    ]
                },
            },
        )
    },
    answers=(
        _quota("api", 0.5),
        _quota("postgresql_shop", 0.5),
        _QUOTAS,
        (r"^machine api_machine \{", rf"machine api_machine {{ connections {_POOL} connection;"),
        (
            r"^( *)(call postgresql_shop [^\n]*)",
            r"\1take connections\n\1\2\n\1give connections",
        ),
    ),
    database=_postgres,
)
LOCKED = TracedDesign(
    name="threads",
    title="Threads that contend for the lock of Python: edge, renderer",
    notes=(
        "The spec has one core for the renderer, as its threads share the interpreter's lock, "
        "while two are there. At capacity it used 0.93 of a core, and as much CPU per request as "
        "at low load: the rest is the time in which the lock passes from one thread to the next, "
        "which traces at low load do not show. A second run had 71.8 /s, predicted as 76.8 /s "
        "(76.2 to 77.3 /s): +6.9 %."
    ),
    mix={"/page": 1.0},
    services={
        "edge": ServiceDesign(
            quota=0.5, settings={"routes": {"/page": [["call", "render", "/render"]]}}
        ),
        "render": ServiceDesign(quota=2.0, settings={"routes": {"/render": [["burn", 12]]}}),
    },
    answers=(
        _quota("edge", 0.5),
        _QUOTAS,  # that of one core is as much as a core
    ),
)
DESIGNS = {one.name: one for one in (SHOP, POOLED, LOCKED)}
