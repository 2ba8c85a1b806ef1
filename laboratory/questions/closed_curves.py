"""Closed load tests of real servers: fitted to few clients, predicted up to 16 times as many.

`python laboratory/questions/closed_curves.py [SERVER…]` starts PostgreSQL, Redis, nginx and a
service in Python, each on the first processor, asked by a generator on the second. Each number of
clients is run several times, in random order; the median counts. Tables of one and two clients, and
of one to four, are fitted `by clients`, and predict the others. It prints a line for each row:
throughput and response time, measured and predicted, with the error and the 90 % interval. Behind
these stand the measured rows, a line for each: server,clients,requests/s,busy cores. With
`--rows FILE` such lines are predicted again, and nothing is measured.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import exp, sqrt
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from msgspec import Struct

from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.measurement.scalability.closed_loop import log_throughput
from qps.compiler.measurement.scalability.closed_tables import closed_table
from qps.compiler.measurement.scalability.scalability_fit import station_fit
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.student_t import student_quantile

SMALL = ((1, 2), (1, 2, 3, 4))
"""Clients that are fitted; up to 16 times as many are predicted."""
CLIENTS = (1, 2, 3, 4, 8, 16, 32, 64)
_SECONDS, _REPETITIONS = 1, 3
_SERVER, _GENERATOR = ("taskset", "-c", "0"), ("taskset", "-c", "1")
_PRIORITY = ("chrt", "-r", "5") if os.geteuid() == 0 else ()
"""Other work on the machine would be the bottleneck otherwise."""
_REQUESTS = 3000
_TICKS = os.sysconf("SC_CLK_TCK")
_POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/nowhere"))
_AS_POSTGRES = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()

_SERVICE = """
import asyncio, json, sys
async def answer(reader, writer):
    try:
        while await reader.readuntil(b"\\r\\n\\r\\n"):
            body = json.dumps({"sum": sum(i * i for i in range(6000))}).encode()
            head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            writer.write(head + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", int(sys.argv[1]), backlog=512)
    await server.serve_forever()
asyncio.run(main())
"""


class ClosedLoopServer(Struct, frozen=True, kw_only=True):
    """How a server is started in a folder at a port, and asked by so many clients."""

    start: Callable[[Path, int], Sequence[str]]
    ask: Callable[[Path, int, int], Sequence[str]]
    rate: str
    """A pattern of the throughput that the generator prints."""
    requests: int = 0
    """How many requests a run has; 0 where it has a time."""
    seconds: int = _SECONDS
    """How long a run is: longer where each new connection has caches to fill."""


class ClosedRow(Struct, frozen=True):
    """A run, or the medians of several: clients, completed requests/s, busy cores of the server."""

    clients: int
    rate: float
    busy: float


def _postgres(folder: Path, port: int) -> Sequence[str]:
    folder.chmod(0o755)
    data = folder / "data"
    own = ["install", "-d", *(("-o", "postgres") if _AS_POSTGRES else ()), "-m", "700", str(data)]
    subprocess.run(own, check=True)
    initdb = [*_AS_POSTGRES, str(_POSTGRES / "initdb"), "-N", "-D", str(data), "-A", "trust"]
    subprocess.run([*initdb, "-U", "postgres"], check=True, stdout=subprocess.DEVNULL)
    (folder / "query.sql").write_text("select count(*) from generate_series(1, 7000);\n")
    flags = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
    flags += ["-c", "autovacuum=off", "-c", "max_connections=200"]
    return [*_AS_POSTGRES, str(_POSTGRES / "postgres"), "-D", str(data), "-p", str(port), *flags]


def _nginx(folder: Path, port: int) -> Sequence[str]:
    folder.chmod(0o755)
    random.seed(1)
    (folder / "page.html").write_text("".join(random.choices("abcdefgh \n", k=60_000)))
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;\n"
        "events { worker_connections 1024; }\nhttp { access_log off; gzip on; gzip_types *;\n"
        "keepalive_requests 10000000;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n"
    )
    return ["nginx", "-c", str(folder / "nginx.conf")]


def _redis(folder: Path, port: int) -> Sequence[str]:
    return ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]


def _python(folder: Path, port: int) -> Sequence[str]:
    (folder / "service.py").write_text(_SERVICE)
    return [sys.executable, str(folder / "service.py"), str(port)]


def _wrk(path: str) -> Callable[[Path, int, int], Sequence[str]]:
    return lambda _, port, clients: [
        *("wrk", "-t", "1", "-c", str(clients), "-d", f"{_SECONDS}s"),
        *("-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{port}/{path}"),
    ]


_OF_WRK = r"Requests/sec:\s*([\d.]+)"
SERVERS = {
    "PostgreSQL": ClosedLoopServer(
        start=_postgres,
        ask=lambda folder, port, clients: [
            *("pgbench", "-n", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"),
            *("-f", str(folder / "query.sql"), "-c", str(clients), "-T", "4", "postgres"),
        ],
        rate=r"tps = ([\d.]+)",
        seconds=4,
    ),
    "Redis": ClosedLoopServer(
        start=_redis,
        ask=lambda _, port, clients: [
            *(
                "redis-benchmark",
                "-p",
                str(port),
                "-c",
                str(clients),
                "-n",
                str(_REQUESTS),
                "--csv",
            ),
            *("eval", "local s = 0 for i = 1, 20000 do s = s + i * i end return s", "0"),
        ],
        rate=r'^"eval[^\n]*?","([\d.]+)"',
        requests=_REQUESTS,
    ),
    "nginx": ClosedLoopServer(start=_nginx, ask=_wrk("page.html"), rate=_OF_WRK),
    "Python": ClosedLoopServer(start=_python, ask=_wrk(""), rate=_OF_WRK),
}


# -- runs ---------------------------------------------------------------------------------------


@contextmanager
def _started(server: ClosedLoopServer) -> Iterator[tuple[Path, int, int]]:
    """Start a server; ended by its id, with its folder, port and process."""
    with TemporaryDirectory(prefix="qps-closed-") as name:
        folder, port = Path(name), random.randint(20_000, 29_000)
        command = [*_PRIORITY, *_SERVER, *server.start(folder, port)]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
            try:
                time.sleep(1.5)
                yield folder, port, process.pid
            finally:
                process.terminate()


def _used(pid: int) -> float:
    """Return the processor time of a process and its children, ended ones too (s)."""
    total, left = 0.0, [pid]
    while left:
        one = left.pop()
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            left += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / _TICKS
    return total


def _run(server: ClosedLoopServer, folder: Path, port: int, pid: int, clients: int) -> ClosedRow:
    before = _used(pid)
    command = [*_PRIORITY, *_GENERATOR, *server.ask(folder, port, clients)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(server.rate, done.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(done.stdout + done.stderr)
    took = server.requests / float(found[1]) if server.requests else server.seconds
    return ClosedRow(clients, float(found[1]), (_used(pid) - before) / took)


def measured(server: ClosedLoopServer, clients: Sequence[int] = CLIENTS) -> list[ClosedRow]:
    """Return the medians of repeated runs, in random order."""
    rows: dict[int, list[ClosedRow]] = {count: [] for count in clients}
    with _started(server) as (folder, port, pid):
        _run(server, folder, port, pid, 4)  # warm-up
        order = [count for count in clients for _ in range(_REPETITIONS)]
        random.shuffle(order)
        for count in order:
            rows[count].append(_run(server, folder, port, pid, count))
    return [
        ClosedRow(count, median(one.rate for one in some), median(one.busy for one in some))
        for count, some in rows.items()
    ]


# -- predictions --------------------------------------------------------------------------------


def predicted(rows: Sequence[ClosedRow], counts: Sequence[int]) -> list[tuple[float, float]]:
    """Return the throughput at numbers of clients, and by which factor 90 % lie around it."""
    lines = [f"{one.clients},{one.rate},{one.busy},1" for one in rows]
    text = "\n".join(["clients,request/s,cpu in core,cores", *lines]) + "\n"
    found = station_fit(closed_table(read_table(text, "runs.csv"), "clients", units_with(())))
    at = np.array(counts)

    def logged(**values: float) -> np.ndarray:
        law = {name: getattr(found.law, name) for name in found.law.__struct_fields__}
        return log_throughput(ScalabilityLaw(**{**law, **values}), at)

    middle, slopes = logged(), []
    for name in found.numbers:
        step = 0.1 * float(np.linalg.norm(found.weights_of(name)))
        moved = logged(**{name: found.value_of(name) + step}) if step else middle
        slopes.append((moved - middle) / (step or 1.0))
    off = np.array(slopes).T @ np.array(found.weights)
    quantile = student_quantile(0.95, found.freedom)
    widths = [quantile * sqrt(float(row @ row) + found.noise**2) for row in off]
    return [(exp(a), exp(b)) for a, b in zip(middle, widths, strict=True)]


def main(names: Sequence[str]) -> None:
    """Measure servers, and print what was predicted of them."""
    print("| server | fitted | clients | measured/s | predicted/s | error | response | in 90 % |")
    print("|---|---|---|---|---|---|---|---|")
    if names[0] == "--rows":
        by_server: dict[str, list[ClosedRow]] = {}
        for line in Path(names[1]).read_text(encoding="utf-8").split():
            server, clients, rate, busy = line.split(",")
            row = ClosedRow(int(clients), float(rate), float(busy))
            by_server.setdefault(server, []).append(row)
        for server, rows in by_server.items():
            _print(server, rows)
        return
    for name in names:
        rows = measured(SERVERS[name])
        _print(name, rows)
        print(*(f"{name},{one.clients},{one.rate:.1f},{one.busy:.3f}" for one in rows), sep="\n")


def _print(name: str, rows: Sequence[ClosedRow]) -> None:
    for small in SMALL:
        known = [one for one in rows if one.clients in small]
        others = [one for one in rows if small[-1] < one.clients <= 16 * small[-1]]
        found = predicted(known, [one.clients for one in others])
        for one, (rate, factor) in zip(others, found, strict=True):
            error = rate / one.rate - 1
            held = one.rate / factor <= rate <= one.rate * factor
            print(
                f"| {name} | {small[0]} to {small[-1]} | {one.clients} | {one.rate:,.0f} | "
                f"{rate:,.0f} | {error:+.1%} | {1 / (1 + error) - 1:+.1%} | "
                f"{'yes' if held else 'no'} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:] or [*SERVERS])
