"""Requests that were drawn, in the layout of each tool, and what a reader must say of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from math import ceil

from observations import result_writers as writers
from observations.drawn_requests import START, Drawn, Request, drawn


def ms(value: float) -> str:
    return f"{value:.2f}ms"


def wrk(test: Drawn, factor: float = 1) -> str:
    count, seconds = len(test.requests), test.seconds
    mean = test.total / count
    shares = "".join(f"     {p}%  {ms(test.percentile(p))}\n" for p in (50, 90))
    return (
        f"Running 4s test @ http://127.0.0.1/\n  1 threads and {test.users} connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        f"    Latency  {ms(mean)}  {ms(mean)}  {ms(test.times[-1])}   92.30%\n"
        "    Req/Sec    60.58k    21.31k   91.24k    70.00%\n"
        f"  Latency Distribution\n{shares}"
        f"  {count} requests in {seconds:.2f}s, {test.octets / 1024:.2f}KB read\n"
        f"  Non-2xx or 3xx responses: {test.failed}\n"
        f"Requests/sec:  {test.rate * factor:.2f}\n"
        f"Transfer/sec:  {test.octets / seconds / 1024:.2f}KB\n"
    )


def wrk2(test: Drawn, factor: float = 1) -> str:
    """Two tables, the second of times that do not count."""
    count = len(test.requests)

    def table(title: str, times: Sequence[float]) -> str:
        rows = "".join(
            f" {share:.3f}%  {ms(times[ceil(count * share / 100) - 1])}\n"
            for share in (50, 90, 95, 100)
        )
        return (
            f"  Latency Distribution (HdrHistogram - {title})\n{rows}\n"
            "  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount\n\n"
            f"       0.071     0.000000            1         1.00\n"
            f"#[Mean    =  {sum(times) / count:.3f}, StdDeviation   =  {times[-1] / 3:.3f}]\n"
            f"#[Max     =  {times[-1]:.3f}, Total count    =  {count}]\n-----\n\n"
        )

    head, _, rest = wrk(test, factor).partition("  Latency Distribution\n")
    rest = rest[rest.index(f"  {count} requests in") :]
    both = table("Recorded Latency", test.times) + table(
        "Uncorrected Latency (measured without taking delayed starts into account)",
        [one / 7 for one in test.times],
    )
    return head + both + rest


def h2load(test: Drawn, factor: float = 1) -> str:
    count, seconds = len(test.requests), test.seconds
    good = count - test.failed
    return (
        f"starting benchmark...\nspawning thread #0: {test.users} total client(s). 9 requests\n\n"
        f"finished in {seconds:.2f}s, {test.rate * factor:.2f} req/s, 1.17MB/s\n"
        f"requests: {count} total, {count} started, {count} done, {good} succeeded, "
        f"{test.failed} failed, 0 errored, 0 timeout\n"
        f"traffic: 5.86MB ({test.octets}) total, 0.7MB (732000) headers\n"
        "                     min         max         mean         sd        +/- sd\n"
        f"time for request:  {test.times[0]}.00ms  {test.times[-1]}.00ms  "
        f"{ms(test.total / count)}  443us    99.32%\n"
    )


def pgbench(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    return (
        f"transaction type: x\nnumber of clients: {test.users}\nduration: {test.seconds:.0f} s\n"
        f"number of transactions actually processed: {count}\n"
        f"latency average = {test.total / count:.3f} ms\n"
        f"tps = {test.rate * factor:.6f} (without initial connection time)\n"
    )


def sysbench(test: Drawn, factor: float = 1) -> str:
    """The mean is rounded to hardly anything: times here are of some hundredths of a ms."""
    count = len(test.requests)
    return (
        f"sysbench 1.0.20\nNumber of threads: {test.users}\nGeneral statistics:\n"
        f"    total time:                {test.seconds:.4f}s\n"
        f"    total number of events:    {count}\n\nLatency (ms):\n"
        f"         min:     {test.times[0]:.2f}\n"
        f"         avg:     {test.total / count * factor:.0f}\n"
        f"         max:     {test.times[-1]:.2f}\n"
        f"         95th percentile:   {test.percentile(95):.2f}\n"
        f"         sum:     {test.total:.2f}\n"
    )


def sysbench_before_1(test: Drawn, factor: float = 1) -> str:
    """The layout of its versions 0.4 and 0.5."""
    text = sysbench(test, factor)
    for name in ("min", "avg", "max", "95th percentile"):
        text = re.sub(rf"({name}: .*)", r"\1ms", text)
    text = text.replace("95th percentile:", "approx.  95 percentile: ")
    taken = f"    total time taken by event execution: {test.total / 1000:.4f}s\n"
    return re.sub(r" *sum: .*\n", taken, text).replace("General statistics:", "Test summary:")


def k6_values(test: Drawn, factor: float) -> dict[str, dict[str, float]]:
    count = len(test.requests)
    trend = {"avg": test.total / count, "min": test.times[0], "max": test.times[-1]}
    trend |= {"med": test.percentile(50), "p(90)": test.percentile(90)}
    return {
        "vus_max": {"value": 50, "min": 50, "max": 50},
        "vus": {"value": 1, "min": 1, "max": test.users},
        "http_req_duration": trend,
        "http_req_duration{expected_response:true}": dict.fromkeys(trend, 1),
        "http_req_failed": {
            "passes": test.failed,
            "fails": count - test.failed,
            "value": test.failed / count,
        },
        "data_received": {"count": test.octets, "rate": test.octets / test.seconds},
        "http_reqs": {"count": count, "rate": test.rate * factor},
        "iterations": {"count": count, "rate": test.rate},
    }


def k6_summary(test: Drawn, factor: float = 1) -> str:
    return json.dumps({"metrics": k6_values(test, factor)})


def k6_printed(test: Drawn, factor: float = 1) -> str:
    """With thresholds, whose marks stand before the names, and colors."""
    found = k6_values(test, factor)
    count, trend = len(test.requests), found["http_req_duration"]
    times = " ".join(f"{name}={value:.4f}ms" for name, value in trend.items())
    return (
        "  execution: local\n"
        f"   ✓ \x1b[1mhttp_req_duration\x1b[0m.......: {times}\n"
        "       { expected_response:true }...: avg=1ms min=1ms med=1ms max=1ms p(90)=1ms\n"
        f"   ✗ http_req_failed................: {test.failed / count:.4%} ✓ {test.failed} "
        f"✗ {count - test.failed}\n"
        f"     http_reqs......................: {count} {found['http_reqs']['rate']:.6f}/s\n"
        f"     iterations.....................: {count} {test.rate:.6f}/s\n"
        f"     data_received..................: 1 MB {test.octets / test.seconds:.4f} B/s\n"
        f"     vus............................: 1 min=1 max={test.users}\n"
        "     vus_max........................: 50 min=50 max=50\n"
    )


def k6_points(test: Drawn, factor: float = 1) -> str:
    lines = ["metric_name,timestamp,metric_value,check"]
    for one in test.requests:
        at = START + one.begin + one.took
        lines += [f"vus,{at},{test.users},", f"http_req_duration,{at},{one.took},"]
        lines += [f"http_req_failed,{at},{int(one.failed)},", f"data_received,{at},{one.octets},"]
    return "\n".join(lines) + "\n"


JMETER = "timeStamp,elapsed,label,responseMessage,threadName,success,bytes,allThreads,URL\n"


def jmeter(test: Drawn, factor: float = 1) -> str:
    """As a spreadsheet writes it; every third request is redirected, each user has a visit."""
    lines, visits = [], dict[int, list[Request]]()
    for one in test.requests:
        visits.setdefault(one.user, []).append(one)
        rest = f"OK,group 1-{one.user + 1},{str(not one.failed).upper()}"
        behind = f"{one.octets},{test.users},http://here/"
        at = START + one.begin
        if one.begin % 3 == 0:
            lines.append(f"{at},{one.took},page,{rest},{behind}\n")
            lines.append(f"{at},{one.took},page-0,{rest},{behind}\n")
        else:
            lines.append(f"{at},{one.took},page,{rest},{behind}\n")
    for user, own in visits.items():
        begin, end = own[0].begin, own[-1].begin + own[-1].took
        text = f'"Number of samples in transaction : {len(own)}, number of failing samples : 0"'
        total = sum(one.octets for one in own)
        lines.append(
            f"{START + begin},{end - begin},visit,{text},group 1-{user + 1},TRUE,{total},"
            f"{test.users},null\n"
        )
    return JMETER + "".join(lines)


def pgbench_log(test: Drawn, factor: float = 1) -> str:
    lines = []
    for one in test.requests:
        seconds, rest = divmod(START + one.begin + one.took, 1000)
        lines.append(f"{one.user} 1 {1000 * one.took} 0 {seconds} {1000 * rest}\n")
    return "".join(lines)


def h2load_log(test: Drawn, factor: float = 1) -> str:
    return "".join(
        f"{1000 * (START + one.begin)}\t{500 if one.failed else 200}\t{1000 * one.took}\n"
        for one in test.requests
    )


Writer = Callable[..., str]
REPORTS = (writers.oha, writers.fortio, writers.artillery, writers.gatling_stats)
"""Summaries as JSON."""
ONE_RUN = (
    *REPORTS,
    writers.jmeter_xml,
    k6_summary,
    writers.locust,
    writers.locust_history,
    writers.fio,
)
"""What holds a single run: one JSON, or one table."""
IN_SECONDS = ("access-log",)
"""What has times in whole seconds, and a test of its own."""
SENT = (writers.vegeta_log, writers.vegeta_csv, writers.hey_log)
"""What holds each request, and no number of users."""
NOTHING_TWICE = (
    *SENT,
    k6_points,
    jmeter,
    writers.jmeter_xml,
    pgbench_log,
    h2load_log,
    writers.locust_history,
    writers.gatling_log,
    writers.gatling_stats,
)
"""What gives no number twice."""
NO_USERS = (
    *SENT,
    h2load_log,
    writers.hey,
    writers.vegeta,
    writers.vegeta_json,
    writers.locust,
    writers.oha,
    writers.oha_printed,
    writers.artillery,
    writers.gatling_stats,
)
"""What does not say how many users there were."""
ALL = frozenset(drawn(0).columns)
SUMS = frozenset(
    ["request/s", "share failed", "latency mean, ms", "latency least, ms", "latency longest, ms"]
)
MIDDLE = frozenset(["latency p50, ms", "latency p90, ms"])
LAYOUTS: list[tuple[str, Writer, frozenset[str], float]] = [
    ("wrk", wrk, ALL - {"latency least, ms", "latency p95, ms"}, 6e-3),
    ("wrk", wrk2, ALL - {"latency least, ms"}, 6e-3),
    ("h2load", h2load, ALL - MIDDLE - {"latency p95, ms"}, 6e-3),
    ("pgbench", pgbench, frozenset(["users", "request/s", "latency mean, ms"]), 1e-3),
    ("sysbench", sysbench, ALL - {"byte/s", "share failed"} - MIDDLE, 1e-4),
    ("sysbench", sysbench_before_1, ALL - {"byte/s", "share failed"} - MIDDLE, 1e-4),
    ("k6", k6_summary, ALL - {"latency p95, ms"}, 1e-6),
    ("k6", k6_printed, ALL - {"latency p95, ms"}, 1e-3),
    ("k6", k6_points, ALL - {"latency least, ms"}, 1e-6),
    ("jmeter", jmeter, ALL - {"latency least, ms"}, 1e-6),
    ("pgbench", pgbench_log, ALL - {"byte/s", "latency least, ms"}, 1e-6),
    ("h2load", h2load_log, ALL - {"users", "byte/s", "latency least, ms"}, 1e-6),
]
LAYOUTS += [
    ("ab", writers.ab, ALL - {"latency least, ms", "latency p50, ms"}, 6e-3),
    ("hey", writers.hey, ALL - {"users"}, 6e-3),
    ("vegeta", writers.vegeta, ALL - {"users"}, 6e-3),
    ("vegeta", writers.vegeta_json, ALL - {"users"}, 1e-6),
    ("vegeta", writers.vegeta_log, ALL - {"users", "latency least, ms"}, 1e-6),
    ("vegeta", writers.vegeta_csv, ALL - {"users", "latency least, ms"}, 1e-6),
    ("hey", writers.hey_log, ALL - {"users", "byte/s", "latency least, ms"}, 1e-6),
    ("locust", writers.locust, ALL - {"users"}, 1e-6),
    ("locust", writers.locust_history, writers.COUNTED, 1e-6),
    ("redis-benchmark", writers.redis, ALL - {"byte/s", "share failed", "latency p90, ms"}, 6e-3),
    ("fio", writers.fio, ALL, 1e-6),
    ("oha", writers.oha, ALL - {"users"}, 1e-6),
    ("oha", writers.oha_printed, ALL - {"users"}, 6e-3),
    ("fortio", writers.fortio, ALL, 1e-6),
    ("artillery", writers.artillery, ALL - {"users"}, 1e-6),
    ("gatling", writers.gatling_log, ALL - {"byte/s", "latency least, ms"}, 1e-6),
    ("gatling", writers.gatling_stats, SUMS, 1e-6),
    ("jmeter", writers.jmeter_xml, ALL - {"latency least, ms"}, 1e-6),
]
NAMES = [writer.__name__ for _, writer, _, _ in LAYOUTS]
