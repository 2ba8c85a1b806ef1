"""The simulation that public questions about time are compared with: it shares nothing with QPS.

Each request is followed by itself, on a heap of events, with the standard library alone: requests
arrive at random, wait first come, first served for a server of each tier, are served for
exponential times, and are sent again by clients that got no answer in time. Rates and numbers of
servers change at stated times. `python laboratory/questions/time_simulation.py [NUMBER…]` prints
the numbers of `times.md`.
"""

from __future__ import annotations

import random
import sys
from math import ceil, inf
from statistics import fmean

from time_runs import PodScaler, RequestRun, RetryingClients, RunOutcome, ServerTier

HOUR = 3600.0


def utilization(rate: float, service: float, servers: int, seconds: float) -> float:
    """Return how busy servers are at a constant rate."""
    tier = ServerTier(service, [(0.0, servers)])
    RequestRun([(0.0, rate)], [tier], seconds, kept_from=seconds / 10).run()
    return tier.busy / (0.9 * seconds * servers)


def last_month(
    first: float, growth: float, service: float, servers: int, target: float, seconds: float
) -> int:
    """Return the last month before one in which servers are busier than a target."""
    month = 0
    while utilization(first * growth**month, service, servers, seconds) <= target:
        month += 1
    return month - 1


def least_servers(
    rate: float, service: float, cores: int, target: float, lost: int, seconds: float
) -> int:
    """Return the least number of machines of which some can be lost."""
    machines = lost + 1
    while utilization(rate, service, (machines - lost) * cores, seconds) > target:
        machines += 1
    return machines


def percentile(values: list[float], level: float) -> float:
    """Return a percentile of values."""
    return sorted(values)[ceil(level * len(values)) - 1]


def _mean_of(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: fmean(one[name] for one in runs) for name in runs[0]}


def _incident(outcome: RunOutcome, place: int = 0) -> dict[str, float]:
    tier = outcome.tiers[place]
    return {
        "requests waiting": tier.most,
        "at s": tier.most_at,
        "longest response s": max((one for _, one in outcome.waits), default=0.0),
        "over at s": outcome.over_at,
        "lost": outcome.lost,
    }


# -- the fifteen questions -------------------------------------------------------------------


def question_1() -> dict[str, float]:
    """10,000 requests/s keep 20 servers (80 cores) 40 % busy; 15 % more each month."""
    return {
        "last month": last_month(10_000, 1.15, 0.0032, 80, 0.8, 20),
        "utilization with 140 servers on Black Friday": utilization(
            30_000 * 1.15**11, 0.0032, 560, 3
        ),
    }


def question_2() -> dict[str, float]:
    """500 requests/s, 15 % more each month, 10 servers for 100 requests/s each, 75 %."""
    return {
        "last month": last_month(500, 1.15, 0.010, 10, 0.75, 1200),
        "servers in month 12": least_servers(500 * 1.15**12, 0.010, 1, 0.75, 0, 200),
    }


SHAPE = (
    *(0.25, 0.2, 0.15, 0.15, 0.15, 0.2, 0.3, 0.45, 0.6, 0.7, 0.75, 0.8),
    *(0.8, 0.8, 0.75, 0.75, 0.75, 0.8, 0.9, 1.0, 1.0, 0.85, 0.6, 0.4176),
)
"""A day whose peak is 1.7 times its mean."""


def question_3() -> dict[str, float]:
    """10 million requests a day, whose peak is 1.7 times the mean."""
    peak = 10_000_000 / 86_400 / (sum(SHAPE) / 24)
    rates = [(0.0, peak * SHAPE[18]), (HOUR / 2, peak * SHAPE[19])]
    tier = ServerTier(0.016, [(0.0, 4)])
    outcome = RequestRun(rates, [tier], 1.5 * HOUR, kept_from=HOUR / 2, calm=inf).run()
    times = [took for _, took in outcome.waits]
    return {
        "peak rate": len(times) / HOUR,
        "utilization": tier.busy / (HOUR * 4),
        "p99 ms": 1000 * percentile(times, 0.99),
    }


def question_4() -> dict[str, float]:
    """A nightly run takes 90 % of the window from 2:00 to 6:00; on Friday, 30 % more."""
    ends = {}
    for day, part in (("normal", 1.0), ("Friday", 1.3)):
        records = 0.9 * 4 * HOUR * 80 * part
        tier = ServerTier(0.1, [(0.0, 8)])
        outcome = RequestRun(
            [(0.0, records / 300), (300.0, 0.0)], [tier], 24 * HOUR, calm=0.0
        ).run()
        ends[f"hours {day}"] = outcome.over_at / HOUR
    return ends


def question_5() -> dict[str, float]:
    """5,000 messages/s for consumers of 4,800/s: both are simulated as parts of that."""
    hour = ServerTier(1 / 480, [(0.0, 1)])
    RequestRun([(0.0, 500.0)], [hour], HOUR).run()
    day = ServerTier(1 / 19.2, [(0.0, 1)])
    RequestRun([(0.0, 20.0)], [day], 24 * HOUR).run()
    return {
        "wait after an hour s": hour.most / 480,
        "messages after an hour": 10 * hour.most,
        "wait after a day min": day.most / 19.2 / 60,
    }


def question_6() -> dict[str, float]:
    """Orders x 10 for six hours, during which nothing is consumed; 1,000/s, then 100/s."""
    consumer = ServerTier(0.001, [(0.0, 0), (6 * HOUR, 1)])
    database = ServerTier(0.010, [(0.0, 1)])
    rates = [(0.0, 1000 / 60), (6 * HOUR, 100 / 60)]
    outcome = RequestRun(rates, [consumer, database], 9 * HOUR).run()
    return {
        "orders waiting": consumer.most,
        "orders waiting for the database": database.most,
        "over after h": outcome.over_at / HOUR,
    }


def question_7() -> dict[str, float]:
    """One of 4 servers at 80 % fails for 10 minutes."""
    runs = []
    for seed in range(5):
        tier = ServerTier(0.010, [(0.0, 4), (60.0, 3), (660.0, 4)])
        found = _incident(RequestRun([(0.0, 320.0)], [tier], 1500, seed=seed).run())
        found["over at s"] -= 60
        runs.append(found)
    return _mean_of(runs)


def question_8() -> dict[str, float]:
    """One of 4 hosts at 75 % fails for 10 minutes: three hosts at 100 %."""
    runs = []
    for seed in range(60):
        tier = ServerTier(0.010, [(0.0, 4)])
        calm = RequestRun([(0.0, 300.0)], [tier], 300, kept_from=30, calm=inf, seed=seed).run()
        lost = ServerTier(0.010, [(0.0, 4), (60.0, 3), (660.0, 4)])
        found = _incident(RequestRun([(0.0, 300.0)], [lost], 900, calm=0.2, seed=seed).run())
        found["over at s"] -= 60
        found["response ms"] = 1000 * fmean(took for _, took in calm.waits)
        runs.append(found)
    return _mean_of(runs)


def question_9() -> dict[str, float]:
    """Three servers are needed: how many to run for one and for two failures."""
    return {
        "without": least_servers(220, 0.010, 1, 0.75, 0, 600),
        "one": least_servers(220, 0.010, 1, 0.75, 1, 600),
        "two": least_servers(220, 0.010, 1, 0.75, 2, 600),
    }


def question_10() -> dict[str, float]:
    """Five servers are needed: how many to run for one failure."""
    return {
        "without": least_servers(370, 0.010, 1, 0.75, 0, 600),
        "one": least_servers(370, 0.010, 1, 0.75, 1, 600),
    }


def question_11() -> dict[str, float]:
    """The HPA of 2016 from 1 to 10 pods: 80 % of a request that is half the limit.

    It looked each 30 s, added at most as many pods as there were (or up to 4 in all), and not
    again for 3 minutes.
    """
    now, pods, blocked, course = 30.0, 1, 0.0, []
    while pods < 10:
        if now >= blocked:
            pods = min(10, ceil(pods * 2.0 / 0.8), max(2 * pods, 4))
            blocked = now + 180
            course.append((now + 5, pods))
        now += 30
    return {"seconds to 10 pods": course[-1][0]}


def question_12() -> dict[str, float]:
    """10 pods at 75 % with five times the load; pods need 75 s to start."""
    runs = []
    for seed in range(3):
        scaler = PodScaler(
            cores=1, least=1, most=100, target=0.75, startup=75, machines=10, ready=10
        )
        tier = ServerTier(0.1, [(0.0, 10)])
        rates = [(0.0, 75.0), (60.0, 375.0)]
        outcome = RequestRun(rates, [tier], 1500, scaler=scaler, calm=2.0, seed=seed).run()
        enough = next(time for time, ready in scaler.course if ready >= 50)
        runs.append(
            {
                "enough pods at s": enough - 60,
                "requests waiting": tier.most,
                "over at s": outcome.over_at - 60,
            }
        )
    return _mean_of(runs)


def question_13() -> dict[str, float]:
    """600 requests/s at a database for 1,000/s that takes 800 ms longer for 30 s; 3 retries."""
    found = {}
    for name, backoff in (("none", 0.0), ("500 ms, doubled", 0.5)):
        tier = ServerTier(0.020, [(0.0, 20)], slower=[(0.0, 1.0), (60.0, 41.0), (90.0, 1.0)])
        outcome = RequestRun(
            [(0.0, 600.0)],
            [tier],
            240,
            clients=RetryingClients(0.5, 3, backoff),
            calm=0.5,
        ).run()
        found[f"lost in 180 s, backoff {name}"] = outcome.lost
        found[f"over at s, backoff {name}"] = outcome.over_at - 60
        found[f"attempts per request, backoff {name}"] = 1 + outcome.retries / (600 * 180)
    return found


def question_14() -> dict[str, float]:
    """A database that answers errors for 1 s: 1,000 clients try again after 5 s each."""
    draw, again = random.Random(1), 0
    now = 0.0
    while now < 1.0:
        now += draw.expovariate(1000)
        again += 1
    return {"attempts in the sixth second": again + 1000}


def question_15() -> dict[str, float]:
    """13 hours of events are kept; the sink takes 9.67 times their rate, or 3 times."""
    found = {}
    for name, times in (("full speed", 29 / 3), ("3 times", 3.0)):
        tier = ServerTier(1 / (10 * times), [(0.0, 0), (13 * HOUR, 1)])
        outcome = RequestRun([(0.0, 10.0)], [tier], 24 * HOUR).run()
        found[f"events, {name}"] = tier.most
        found[f"over after h, {name}"] = outcome.over_at / HOUR
    return found


def lost_zone(lost: int) -> dict[str, float]:
    """14 pods at a target of 70 % lose some for 10 min, at half as much more traffic."""
    runs = []
    for seed in range(5):
        scaler = PodScaler(cores=1, least=4, most=30, target=0.7, startup=60, machines=14, ready=14)
        rates = [(0.0, 95.0), (60.0, 142.5), (660.0, 95.0)]
        tier = ServerTier(0.1, [(0.0, 14)])
        run = RequestRun(rates, [tier], 1500, scaler=scaler, calm=2.0, seed=seed)
        run.at(60.0, run.fail, lost)
        run.at(660.0, run.fail, -lost)
        outcome = run.run()
        runs.append(
            {
                "requests waiting": tier.most,
                "over at s": outcome.over_at - 60,
                "pods": scaler.machines,
            }
        )
    return _mean_of(runs)


def main(chosen: list[str]) -> None:
    """Print the answers to some questions, or to all."""
    for lost in (3, 5) if chosen == ["zone"] else ():
        print(lost, lost_zone(lost), flush=True)
    for number in range(1, 16):
        if chosen and str(number) not in chosen:
            continue
        for name, value in globals()[f"question_{number}"]().items():
            print(f"{number:>2}  {name:<45} {value:,.6g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
