"""Results of load generators as these write them, of requests that are drawn."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from observations.drawn_requests import START, Drawn

COUNTED = frozenset(["users", "request/s", "byte/s", "share failed", "latency mean, ms"])


def ab(test: Drawn, factor: float = 1) -> str:
    count, mean = len(test.requests), test.total / len(test.requests)
    rows = "".join(f"  {p}%  {test.percentile(p):5}\n" for p in (90, 95, 99))
    return (
        "This is ApacheBench, Version 2.3 <$Revision$>\n\nServer Software:        x\n\n"
        f"Concurrency Level:      {test.users}\n"
        f"Time taken for tests:   {test.seconds:.3f} seconds\n"
        f"Complete requests:      {count}\nFailed requests:        {test.failed}\n"
        f"Total transferred:      {test.octets} bytes\n"
        f"Requests per second:    {test.rate * factor:.2f} [#/sec] (mean)\n"
        f"Time per request:       {mean:.3f} [ms] (mean)\n"
        f"Time per request:       {mean / test.users:.3f} [ms] (mean, across all concurrent)\n"
        f"Transfer rate:          {test.octets / test.seconds / 1024:.2f} [Kbytes/sec] received\n"
        f"\nTotal:          0   1   {mean:.1f}      0    {test.times[-1]}\n"
        f"\nPercentage of the requests served within a certain time (ms)\n  50%      0\n{rows}"
        f" 100%   {test.times[-1]:5} (longest request)\n"
    )


def hey(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    rows = "".join(f"  {p}% in {test.percentile(p) / 1000:.4f} secs\n" for p in (50, 90, 95, 99))
    return (
        f"\nSummary:\n  Total:\t{test.seconds:.4f} secs\n"
        f"  Slowest:\t{test.times[-1] / 1000:.4f} secs\n"
        f"  Fastest:\t{test.times[0] / 1000:.4f} secs\n"
        f"  Average:\t{test.total / count / 1000:.4f} secs\n"
        f"  Requests/sec:\t{test.rate * factor:.4f}\n\n  Total data:\t{test.octets} bytes\n\n"
        f"Latency distribution:\n{rows}\nStatus code distribution:\n"
        f"  [200]\t{count - test.failed} responses\n  [500]\t{test.failed} responses\n\n"
    )


def vegeta(test: Drawn, factor: float = 1) -> str:
    count, good = len(test.requests), len(test.requests) - test.failed
    times = [test.times[0], test.total / count, *map(test.percentile, (50, 90, 95, 99))]
    shown = ", ".join(f"{one:.3f}ms" for one in (*times, test.times[-1]))
    seconds = f"{test.seconds:.3f}s"
    return (
        f"Requests      [total, rate, throughput]         {count}, {test.rate:.2f}, "
        f"{good / test.seconds * factor:.2f}\n"
        f"Duration      [total, attack, wait]             {seconds}, {seconds}, 179.787µs\n"
        f"Latencies     [min, mean, 50, 90, 95, 99, max]  {shown}\n"
        f"Bytes In      [total, mean]                     {test.octets}, 1.00\n"
        f"Success       [ratio]                           {good / count:.2%}\n"
        f"Status Codes  [code:count]                      200:{good}  500:{test.failed}\n"
    )


def vegeta_json(test: Drawn, factor: float = 1) -> str:
    count, good = len(test.requests), len(test.requests) - test.failed
    times = {f"{p}th": test.percentile(p) for p in (50, 90, 95, 99)}
    times |= {"min": test.times[0], "max": test.times[-1], "mean": test.total / count}
    first = datetime.fromtimestamp(START / 1000, UTC).isoformat()
    report = {
        "latencies": {"total": 1, **{name: value * 1e6 for name, value in times.items()}},
        "bytes_in": {"total": test.octets, "mean": 1},
        "earliest": f"{first[:19]}.123456789Z",
        "duration": test.seconds * 0.9e9,
        "wait": test.seconds * 0.1e9,
        "requests": count,
        "throughput": good / test.seconds * factor,
        "success": good / count,
    }
    return json.dumps(report) + "\n"


_SHARES = (50, 66, 75, 80, 90, 95, 98, 99)


def locust(test: Drawn, factor: float = 1) -> str:
    """Of two names, and of both."""
    count, mean = len(test.requests), test.total / len(test.requests)
    head = (
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,"
        "Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,"
    )
    shares = {50: test.percentile(50), 90: test.percentile(90), 95: test.percentile(95)}
    single = [f"GET,/{name},1,0,1,1,1,1,1,{test.rate / 2},0,1,1,1\n" for name in "ab"]
    whole = (
        f",Aggregated,{count},{test.failed},1,{mean},{test.times[0]},{test.times[-1]},"
        f"{test.octets / count},{test.rate * factor},0,{','.join(map(str, shares.values()))}\n"
    )
    if factor != 1:  # the bytes follow from the rate
        single = [f"GET,/a,1,0,1,1,1,1,1,{test.rate},0,1,1,1\n"]
    return f"{head}{','.join(f'{p}%' for p in shares)}\n{''.join(single)}{whole}"


def locust_history(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    head = (
        "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,Total Request Count,"
        "Total Failure Count,Total Average Response Time,Total Average Content Size\n"
    )
    begin = START / 1000
    return (
        f"{head}{begin},0,,Aggregated,0,0,N/A,0,0,0,0\n"
        f"{begin + 1},{test.users},GET,/a,1,0,5,1,0,9,9\n"
        f"{begin + test.seconds},{test.users},,Aggregated,1,0,5,{count},{test.failed},"
        f"{test.total / count},{test.octets / count}\n"
    )


def redis(test: Drawn, factor: float = 1) -> str:
    times = (
        test.total / len(test.requests),
        test.times[0],
        *map(test.percentile, (50, 95, 99)),
        test.times[-1],
    )
    return (
        "GET: rps=1.0 (overall: 1.0) avg_msec=0.1 (overall: 0.1)\r      \r====== GET ======\n"
        f"  {len(test.requests)} requests completed in {test.seconds:.2f} seconds\n"
        f"  {test.users} parallel clients\n  3 bytes payload\n\nSummary:\n"
        f"  throughput summary: {test.rate * factor:.2f} requests per second\n"
        "  latency summary (msec):\n"
        "          avg       min       p50       p95       p99       max\n"
        f"    {'     '.join(f'{one:.3f}' for one in times)}\n"
    )


def fio(test: Drawn, factor: float = 1) -> str:
    mean = test.total / len(test.requests)
    times = {"min": test.times[0], "max": test.times[-1], "mean": mean, "stddev": mean}
    shares = {f"{p}.000000": test.percentile(p) * 1e6 for p in (50, 90, 95)}
    read = {
        "iops": test.rate * factor,
        "bw_bytes": test.octets / test.seconds,
        "total_ios": len(test.requests),
        "runtime": test.seconds * 1000,
        "lat_ns": {name: value * 1e6 for name, value in times.items()},
        "clat_ns": {"min": 0, "percentile": shares},
    }
    options = {"numjobs": str(test.users), "group_reporting": "1"}
    job = {"jobname": "a", "error": 0, "job options": options, "read": read}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]})


def vegeta_log(test: Drawn, factor: float = 1) -> str:
    lines = []
    for number, one in enumerate(test.requests):
        clock = datetime.fromtimestamp((START + one.begin) / 1000, UTC).isoformat(
            timespec="microseconds"
        )
        lines.append(
            f'{{"attack":"","seq":{number},"code":{500 if one.failed else 200},'
            f'"timestamp":"{clock[:26]}789Z","latency":{one.took * 1_000_000},"bytes_out":0,'
            f'"bytes_in":{one.octets},"error":"","body":"{"A" * 300_000 * (number == 1)}"}}\n'
        )
    return "".join(lines)


def vegeta_csv(test: Drawn, factor: float = 1) -> str:
    return "".join(
        f"{(START + one.begin) * 1_000_000},{500 if one.failed else 200},{one.took * 1_000_000},0,"
        f'{one.octets},,"QUFB",\n'
        for one in test.requests
    )


def hey_log(test: Drawn, factor: float = 1) -> str:
    head = (
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
    )
    return f"{head}\n" + "".join(
        f"{one.took / 1000:.4f},0.0001,0.0000,0.0000,0.0010,0.0000,{500 if one.failed else 200},"
        f"{one.begin / 1000:.4f}\n"
        for one in test.requests
    )


def oha(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    summary = {
        "successRate": 1.0,
        "total": test.seconds,
        "slowest": test.times[-1] / 1000,
        "fastest": test.times[0] / 1000,
        "average": test.total / count / 1000,
        "requestsPerSec": (count + 3) / test.seconds * factor,
        "totalData": test.octets,
    }
    report = {
        "summary": summary,
        "latencyPercentiles": {f"p{p}": test.percentile(p) / 1000 for p in (50, 90, 95, 99)},
        "statusCodeDistribution": {"200": count - test.failed, "500": test.failed},
        "errorDistribution": {"aborted due to deadline": 3},
    }
    return json.dumps(report, indent=2)


def oha_printed(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    rows = "".join(f"  {p}.00% in {test.percentile(p) / 1000:.4f} secs\n" for p in (50, 90, 95, 99))
    return (
        f"Summary:\n  Success rate:\t100.00%\n  Total:\t{test.seconds:.4f} secs\n"
        f"  Slowest:\t{test.times[-1] / 1000:.4f} secs\n"
        f"  Fastest:\t{test.times[0] / 1000:.4f} secs\n"
        f"  Average:\t{test.total / count / 1000:.4f} secs\n"
        f"  Requests/sec:\t{(count + 3) / test.seconds * factor:.4f}\n\n"
        f"  Total data:\t{test.octets / 1024:.2f} KiB\n\n"
        f"Response time distribution:\n{rows}\nStatus code distribution:\n"
        f"  [200] {count - test.failed} responses\n  [500] {test.failed} responses\n\n"
        "Error distribution:\n  [3] aborted due to deadline\n"
    )


def fortio(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    mean = test.total / count / 1000
    report = {
        "RunType": "HTTP",
        "StartTime": "2026-11-23T08:00:00.123456789Z",
        "ActualQPS": test.rate * factor,
        "ActualDuration": round(test.seconds * 1e9),
        "NumThreads": test.users,
        "DurationHistogram": {
            "Count": count,
            "Min": test.times[0] / 1000,
            "Max": test.times[-1] / 1000,
            "Sum": test.total / 1000,
            "Avg": mean,
            "StdDev": mean,
            "Percentiles": [
                {"Percentile": p, "Value": test.percentile(p) / 1000} for p in (50, 90, 95, 99)
            ],
        },
        "RetCodes": {"200": count - test.failed, "503": test.failed},
        "Sizes": {"Count": count, "Sum": test.octets},
        "URL": "http://here/?token=secret",
    }
    return json.dumps(report, indent=2)


def artillery(test: Drawn, factor: float = 1) -> str:
    """Half of what failed had no response."""
    count, lost = len(test.requests), test.failed // 2
    times = {f"p{p}": test.percentile(p) for p in (50, 90, 95, 99)}
    times |= {"min": test.times[0], "max": test.times[-1], "mean": test.total / count, "count": 1}
    report = {
        "aggregate": {
            "counters": {
                "vusers.created": 40,
                "http.requests": count,
                "http.responses": (count - lost) * factor,
                "http.codes.200": count - test.failed,
                "http.codes.500": test.failed - lost,
                "errors.ETIMEDOUT": lost,
                "plugins.metrics-by-endpoint./a.codes.200": 7,
                "http.downloaded_bytes": test.octets,
            },
            "rates": {"http.request_rate": 9},
            "firstCounterAt": START,
            "lastCounterAt": START + round(test.seconds * 1000),
            "summaries": {"http.response_time": times, "vusers.session_length": {"min": 1}},
        },
        "intermediate": [],
    }
    return json.dumps(report, indent=2)


def gatling_log(test: Drawn, factor: float = 1) -> str:
    """As of version 3.9; the last request has a group."""
    lines = ["ASSERTION\tAAEDAAEFAAAA==", f"RUN\ta.Simulation\ta\t{START}\t \t3.9.5"]
    lines += [f"USER\tvisit\tSTART\t{START}"] * test.users
    for one in test.requests:
        at = f"{START + one.begin}\t{START + one.begin + one.took}"
        lines.append(
            f"REQUEST\ta group\tpage\t{at}\t" + ("KO\tfound 500" if one.failed else "OK\t ")
        )
    lines += [f"USER\tvisit\tEND\t{START}"] * test.users
    return "\n".join(lines) + "\n"


def gatling_stats(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    values = {
        "numberOfRequests": (count, test.failed),
        "minResponseTime": (test.times[0], "-"),
        "maxResponseTime": (test.times[-1], "-"),
        "meanResponseTime": (str(test.total / count), "-"),
        "standardDeviation": ("3", "-"),
        "percentiles1": (1, "-"),
        "meanNumberOfRequestsPerSecond": (test.rate, "-"),
    }
    numbers = {
        name: {"total": total, "ok": total, "ko": ko} for name, (total, ko) in values.items()
    }
    return json.dumps({"type": "GROUP", "name": "All Requests", "stats": numbers, "contents": {}})


def jmeter_xml(test: Drawn, factor: float = 1) -> str:
    """Requests stand within transactions of three."""
    samples = [
        f'<httpSample t="{one.took}" ts="{START + one.begin}" s="{str(not one.failed).lower()}" '
        f'lb="&lt;page&gt;" tn="g 1-{one.user + 1}" dt="text" by="{one.octets}" ng="1" '
        f'na="{test.users}"><java.net.URL>http://here/?a=1&amp;token=secret</java.net.URL></httpSample>\n'
        for one in test.requests
    ]
    inner = ""
    for place in range(0, len(samples), 3):
        begin = START + test.requests[place].begin
        inner += f'<sample t="1" ts="{begin}" s="true" lb="visit" tn="g 1-1" by="1" na="1">\n'
        inner += "".join(samples[place : place + 3]) + "</sample>\n"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
    return f"{head}{inner}</testResults>\n"
