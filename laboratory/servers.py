"""The servers of the laboratory: what each needs, what it is asked for, and what it is made of."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Words = list[str]
DELIVERY = "delivery"
"""What Mosquitto gives to one of those who hear a message: an item of the laboratory's own."""
_BYTES = 1000


@dataclass(frozen=True)
class Bench:
    """A folder of its own, and a port that nobody listens at."""

    folder: Path
    port: int
    second: int

    def write(self, name: str, text: str) -> Path:
        """Write a file of the bench, and return where it is."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


@dataclass(frozen=True)
class Laboratory:
    """A server: the programs that it takes, and the words of `qps measure` for it.

    `prepare` has commands that are run first. `servers` are started, each by its column of the
    load (`columns`); `ready` is a command that fails until they serve. Then all are measured.
    `alone` names the laboratory whose fit predicts a column of this one: a composition.
    A run takes `seconds`: longer where a server does little, as it is to use the 0.3 s of a
    processor below which `qps measure` warns, at most settings.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    servers: Callable[[Bench], dict[str, Words]]
    words: Callable[[Bench, bool], Words]
    notes: str
    columns: tuple[str, ...] = ("cpu",)
    alone: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Bench], list[Words]] = lambda _: []
    seconds: int = 3
    ready: Callable[[Bench], Words] | None = None


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in opened]
    for one in opened:
        one.close()
    return ports


def _nginx(bench: Bench, port: int) -> Words:
    folder = bench.folder
    for kilobytes in (1, 4, 16, 64):
        (folder / str(kilobytes)).write_bytes(bytes(_BYTES * kilobytes))
    folder.chmod(0o755)
    bench.write(
        "nginx.conf",
        f"daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/errors;\n"
        "events { worker_connections 1024; }\n"
        "http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;\n"
        f"  server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n",
    )
    return ["nginx", "-c", str(folder / "nginx.conf")]


def _web(bench: Bench, quick: bool) -> Words:  # noqa: FBT001 - as all laboratories
    rates, sizes = ("2000, 6000", "1, 16, 64") if quick else ("2000, 6000, 12000", "1, 4, 16, 64")
    return [
        *("--vary", f"rate in {rates} request/s", "--vary", f"size in {sizes} kB/request"),
        *("--count", r"(\d+) succeeded", "--record", "nginx -v", "--idle", "--"),
        *("h2load", "--h1", "-c", "32", "-D", "{seconds*1000}ms", "--rps", "{rate/32}"),
        f"http://127.0.0.1:{bench.port}/{{size}}",
    ]


def _redis(bench: Bench, quick: bool) -> Words:  # noqa: FBT001 - as all laboratories
    batches, clients = ("1, 16", "4") if quick else ("1, 4, 16", "2, 8")
    sizes = "64, 4000" if quick else "64, 1000, 4000"
    return [
        *("--vary", f"batch in {batches}", "--vary", f"clients in {clients}"),
        *("--vary", f"size in {sizes} byte/request", "--warm-up", "0.5"),
        *("--from", f"redis-cli -p {bench.port} info stats"),
        *("--count", r"total_commands_processed:(\d+)"),
        *("--count", r"byte=total_net_input_bytes:(\d+)"),
        *("--record", "redis-server --version", "--idle", "--"),
        *("redis-benchmark", "-p", str(bench.port), "-t", "set", "-n", "1000000000"),
        *("-c", "{clients}", "-P", "{batch}", "-d", "{size}", "-q"),
    ]


def _haproxy(bench: Bench) -> Words:
    path = bench.write(
        "haproxy.cfg",
        "global\n  maxconn 2000\n  nbthread 1\n"
        "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n"
        f"frontend f\n  bind 127.0.0.1:{bench.port}\n  default_backend b\n"
        f"backend b\n  http-reuse always\n  server s 127.0.0.1:{bench.second}\n",
    )
    return ["haproxy", "-db", "-f", str(path)]


_POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/nowhere"))
_DATABASE = ("pgbench", str(_POSTGRES / "postgres"), "runuser")
_IS_ROOT = os.geteuid() == 0
_AS_POSTGRES = ("runuser", "-u", "postgres", "--") if _IS_ROOT else ()
"""PostgreSQL refuses to run as root."""


def _new_database(bench: Bench) -> list[Words]:
    bench.folder.chmod(0o755)
    bench.write("query.sql", "select repeat('x', :size);\n")
    data = str(bench.folder / "data")
    own = ("-D", data, "-A", "trust", "-U", "postgres")
    return [
        ["install", "-d", *(("-o", "postgres") if _IS_ROOT else ()), "-m", "700", data],
        [*_AS_POSTGRES, str(_POSTGRES / "initdb"), "-N", *own],
    ]


def _postgres(bench: Bench, port: int) -> Words:
    data = str(bench.folder / "data")
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": data,
        "shared_buffers": "32MB",
        "autovacuum": "off",
    }
    flags = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    command = [str(_POSTGRES / "postgres"), "-D", data, "-p", str(port), *flags]
    return [*_AS_POSTGRES, *command]


POOLS = (1, 2, 8)
"""Connections of the pools that PgBouncer keeps, each under a name of its own."""


def pool_name(places: int) -> str:
    """Return the name under which PgBouncer offers so many connections."""
    return f"pool{places}"


def _pgbouncer(bench: Bench) -> Words:
    offered = "".join(
        f"{pool_name(places)} = host=127.0.0.1 port={bench.second} dbname=postgres user=postgres "
        f"pool_size={places}\n"
        for places in POOLS
    )
    path = bench.write(
        "pgbouncer.ini",
        f"[databases]\n{offered}[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {bench.port}\n"
        "unix_socket_dir =\nauth_type = any\npool_mode = transaction\nmax_client_conn = 200\n"
        "server_round_robin = 1\nlog_connections = 0\nlog_disconnections = 0\n",
    )
    path.chmod(0o644)
    return [*_AS_POSTGRES, "pgbouncer", str(path)]


def _answers(port: int) -> Words:
    """PostgreSQL listens before it lets anybody in."""
    return [str(_POSTGRES / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]


def _queries(bench: Bench, quick: bool) -> Words:  # noqa: FBT001 - as all laboratories
    rates, sizes = ("500, 1500", "100, 10000") if quick else ("500, 1000, 2000", "100, 4000, 40000")
    return [
        *("--vary", f"rate in {rates} request/s", "--vary", f"size in {sizes} byte/request"),
        # Not idle, too: connections are made in all other runs, and cost as much as 50 requests.
        *("--count", r"transactions actually processed: (\d+)", "--"),
        *("pgbench", "-n", "-h", "127.0.0.1", "-p", str(bench.port), "-U", "postgres"),
        *("-f", str(bench.folder / "query.sql"), "-D", "size={size}", "-c", "8", "-T", "{seconds}"),
        *("--rate", "{rate}", "postgres"),
    ]


_FAN = """\
# One who sends, twenty times a second, and some who hear:
# FAN PORT FOLDER MESSAGES/S HEARERS BYTES SECONDS
port=$1 folder=$2 rate=$3 hearers=$4 size=$5 seconds=$6
rounds=$((20 * seconds)) count=$((rate / 20 * 20 * seconds))
yes "$(head -c "$size" /dev/zero | tr '\\0' x)" | head -n $((rate / 20)) >"$folder/burst"
rm -f "$folder"/heard.*
i=0
while [ "$i" -lt "$hearers" ]; do
  mosquitto_sub -p "$port" -t t -C "$count" -W $((seconds + 5)) -F . >"$folder/heard.$i" 2>&1 &
  i=$((i + 1))
done
sleep 0.2
{
  i=0
  while [ "$i" -lt "$rounds" ]; do
    cat "$folder/burst"
    sleep 0.05
    i=$((i + 1))
  done
} | mosquitto_pub -p "$port" --nodelay -t t -l
wait
heard=$(cat "$folder"/heard.* | grep -cx .)
echo "in $count out $heard bytes $(((count + heard) * size))"
"""


def _broker(bench: Bench) -> Words:
    bench.write("fan.sh", _FAN)
    path = bench.write(
        "mosquitto.conf",
        # What is heard late is kept for later, not left out.
        f"listener {bench.port} 127.0.0.1\nallow_anonymous true\nsys_interval 0\n"
        # Else small messages wait for each other, and come together (Nagle).
        "set_tcp_nodelay true\n"
        "queue_qos0_messages true\nmax_queued_messages 0\n",
    )
    return ["mosquitto", "-c", str(path)]


def _messages(bench: Bench, quick: bool) -> Words:  # noqa: FBT001 - as all laboratories
    rates, hearers = ("1000, 3000", "1, 4") if quick else ("1500, 6000", "1, 4, 10")
    fan = ("sh", str(bench.folder / "fan.sh"), str(bench.port), str(bench.folder))
    return [
        *("--vary", f"rate in {rates} message/s", "--vary", f"hearers in {hearers}"),
        *("--vary", "size in 100, 2000", "--unit", DELIVERY),
        *("--count", r"message=in (\d+)", "--count", rf"{DELIVERY}=out (\d+)"),
        *(
            "--count",
            r"byte=bytes (\d+)",
            "--record",
            "sh -c 'mosquitto -h | head -1'",
            "--idle",
            "--",
        ),
        *(*fan, "{rate}", "{hearers}", "{size}", "{seconds}"),
    ]


LABORATORIES = (
    Laboratory(
        name="nginx",
        title="nginx, files of 1 to 64 kB",
        programs=("nginx", "h2load"),
        servers=lambda bench: {"cpu": _nginx(bench, bench.port)},
        words=_web,
        notes="The fit misses batching: at low rates a request costs up to twice as much.",
        seconds=8,
    ),
    Laboratory(
        name="redis",
        title="Redis, SET of 64 to 4,000 bytes, batches of 1 to 16",
        programs=("redis-server", "redis-benchmark", "redis-cli"),
        servers=lambda bench: {
            "cpu": ["redis-server", "--port", str(bench.port), "--save", "", "--appendonly", "no"]
        },
        words=_redis,
        notes="Packets distinguish batched requests from single ones. The workload is closed, so "
        "utilizations are similar and a small error is weaker evidence than it seems.",
    ),
    Laboratory(
        name="postgres",
        title="PostgreSQL, results of 100 to 40,000 bytes",
        programs=_DATABASE,
        servers=lambda bench: {"cpu": _postgres(bench, bench.port)},
        words=_queries,
        notes="One process per connection: its CPU time is read from the control group. Each run "
        "includes connecting, as a constant.",
        prepare=_new_database,
        ready=lambda bench: _answers(bench.port),
    ),
    Laboratory(
        name="mosquitto",
        seconds=8,
        title="Mosquitto, one message to 1 to 10 subscribers",
        programs=("mosquitto", "mosquitto_pub", "mosquitto_sub"),
        servers=lambda bench: {"cpu": _broker(bench)},
        words=_messages,
        notes="An incoming message and each of its deliveries have separate costs. Without the "
        "column of deliveries, the rows of 23 November 2026 had a median error of 67 %. The cost "
        "of an incoming message was not distinguishable from zero; messages came in bursts. The "
        "fit misses that costs are not proportional: at the high rate a delivery to one of ten "
        "subscribers took 1.4 times as long as to one of four, as they share the cores, and a "
        "message to a single one 0.7 times as long as at the low rate, as more came at once.",
    ),
    Laboratory(
        name="haproxy",
        title="HAProxy before nginx",
        programs=("haproxy", "nginx", "h2load"),
        servers=lambda bench: {"proxy": _haproxy(bench), "web": _nginx(bench, bench.second)},
        words=_web,
        notes="nginx is predicted from measurements of nginx alone.",
        columns=("proxy", "web"),
        alone={"web": "nginx"},
    ),
)

POOLED = Laboratory(
    name="pool",
    title="PgBouncer before PostgreSQL",
    programs=("pgbouncer", *_DATABASE),
    servers=lambda bench: {
        "pooler": _pgbouncer(bench),
        "cpu": _postgres(bench, bench.second),
    },
    words=_queries,
    notes="",
    prepare=_new_database,
    ready=lambda bench: _answers(bench.second),
)
"""Clients who wait, and no grid: `pooled_loops` asks for them."""
