"""The simulation that the public questions are held against: it shares nothing with QPS.

Each question is a function that draws requests with numpy and returns what was asked, by name. Run
`python laboratory/questions/request_simulation.py` to print all of them. The specs in
`specs/questions` quote these numbers in their `expect` blocks.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]

REQUESTS = 2_000_000
_RUNS = 32
LEVELS = (50.0, 95.0, 99.0, 99.9)


def percentiles(times: Times, *levels: float) -> dict[str, float]:
    """Return the mean of times in s and some percentiles, by name."""
    found = {"mean": float(times.mean())}
    for level in levels or LEVELS:
        value = np.percentile(times, level, method="inverted_cdf")
        found[f"p{level:g}".replace(".", "_")] = float(value)
    return found


def mixture(draw: np.random.Generator, times: Times, weights: Times, size: int) -> Times:
    """Return fixed times, each drawn with its weight."""
    return np.asarray(draw.choice(times, size=size, p=np.asarray(weights) / np.sum(weights)))


def waits_for_servers(arrivals: Times, holds: Times, servers: int) -> Times:
    """Return how long each waits for one of some servers, first come, first served."""
    free = [0.0] * servers
    waits = np.empty(len(arrivals))
    for number, (at, hold) in enumerate(zip(arrivals.tolist(), holds.tolist(), strict=True)):
        begin = max(at, heapq.heappop(free))
        waits[number] = begin - at
        heapq.heappush(free, begin + hold)
    return waits


def latency_mix(draw: np.random.Generator) -> dict[str, float]:
    """Question 1: five kinds of requests, each with a time of its own."""
    times = np.array([0.015, 0.030, 0.060, 0.090, 0.500])
    weights = np.array([50, 30, 15, 4, 1.0])
    return percentiles(mixture(draw, times, weights, REQUESTS), 40, 95, 98, 99.9)


def one_in_a_hundred(draw: np.random.Generator) -> dict[str, float]:
    """Question 2: 99 of 100 take 10 ms, one takes 10 s."""
    times, weights = np.array([0.010, 10.0]), np.array([99, 1.0])
    return percentiles(mixture(draw, times, weights, REQUESTS), 50, 98, 99.9)


def slow_query_pool(draw: np.random.Generator) -> dict[str, float]:
    """Question 3: 1,100 queries/s, 20 connections, 5 % hold one for 270 ms and 95 % for 2 ms."""
    return _pool(draw, rate=1_100, size=20, times=(0.002, 0.270), weights=(95, 5))


def held_fifty_times_longer(draw: np.random.Generator) -> dict[str, float]:
    """Question 4: 2,000 requests/s, 70 connections, 1 % hold one for 1 s instead of 20 ms."""
    return _pool(draw, rate=2_000, size=70, times=(0.020, 1.0), weights=(99, 1))


def _pool(
    draw: np.random.Generator,
    *,
    rate: float,
    size: int,
    times: tuple[float, float],
    weights: tuple[float, float],
) -> dict[str, float]:
    found: list[dict[str, float]] = []
    for _ in range(_RUNS):  # rare long holds come in clusters: one run tells little
        arrivals = np.cumsum(draw.exponential(1 / rate, REQUESTS // 2))
        holds = mixture(draw, np.array(times), np.array(weights), len(arrivals))
        waits = waits_for_servers(arrivals, holds, size)
        steady = slice(len(arrivals) // 10, None)
        busy = float(holds.sum() / (arrivals[-1] * size))
        found.append(
            {"wait": float(waits[steady].mean()), "utilization": busy}
            | percentiles((waits + holds)[steady], 50, 98, 99.5)
        )
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def fan_out(calls: int, slow: float = 0.01) -> Callable[[np.random.Generator], dict[str, float]]:
    """Questions 5 to 8 and 10: so many calls at once, each is slow with the same probability."""

    def asked(draw: np.random.Generator) -> dict[str, float]:
        some_slow = draw.binomial(calls, slow, REQUESTS) > 0
        return {"share slow": float(some_slow.mean())}

    return asked


def hedged_fan_out(draw: np.random.Generator) -> dict[str, float]:
    """Questions 9 and 19: 100 calls; one that is slow (100 ms) is sent again after 2 ms."""
    requests = REQUESTS // 100
    first = np.where(draw.random((requests, 100)) < 0.01, 0.100, 0.001)
    again = np.where(draw.random((requests, 100)) < 0.01, 0.100, 0.001)
    times = np.where(first > 0.002, np.minimum(first, 0.002 + again), first)
    load = 1 + float((first > 0.002).mean())
    return {"calls": load} | percentiles(times.max(axis=1), 50, 95, 99.9)


def retried(fails: float, retries: int) -> Callable[[np.random.Generator], dict[str, float]]:
    """Question 11: each attempt fails with the same probability; so many retries at most."""

    def asked(draw: np.random.Generator) -> dict[str, float]:
        failures = draw.geometric(1 - fails, REQUESTS) - 1
        return {"attempts": float(1 + np.minimum(failures, retries).mean())}

    return asked


def tries_in_layers(layers: int, tries: int) -> Callable[[np.random.Generator], dict[str, float]]:
    """Questions 12 to 14: all attempts fail, and each layer tries so many times."""

    def count(depth: int) -> int:
        return 1 if depth == 0 else sum(count(depth - 1) for _ in range(tries))

    return lambda _: {"calls": float(count(layers))}


def third_fails(draw: np.random.Generator) -> dict[str, float]:
    """Question 15: three attempts of 80 ms, 35 % fail, waits of 100 and 200 ms between them."""
    fails = draw.random((REQUESTS, 2)) < 0.35
    second, third = fails[:, 0], fails[:, 0] & fails[:, 1]
    times = 0.080 + second * (0.100 + 0.080) + third * (0.200 + 0.080)
    return {"calls": float(1 + second.mean() + third.mean())} | percentiles(times, 50, 85, 95, 99)


def sent_again(share: float) -> Callable[[np.random.Generator], dict[str, float]]:
    """Question 16: 8,000 requests/s at 10,000/s, and a share of them is sent again."""

    def asked(draw: np.random.Generator) -> dict[str, float]:
        rate = 8_000 * (1 + share)
        arrivals = np.cumsum(draw.exponential(1 / rate, REQUESTS))
        service = draw.exponential(1e-4, REQUESTS)
        waits = waits_for_servers(arrivals, service, 1)
        return {"utilization": float(service.sum() / arrivals[-1])} | percentiles(waits + service)

    return asked


def threads_of_ten_ms(threads: int) -> Callable[[np.random.Generator], dict[str, float]]:
    """Question 17: 5,000 requests/s hold a thread for 10 ms each."""

    def asked(draw: np.random.Generator) -> dict[str, float]:
        arrivals = np.cumsum(draw.exponential(1 / 5_000, REQUESTS))
        holds = np.full(REQUESTS, 0.010)
        waits = waits_for_servers(arrivals, holds, threads)
        return {"wait": float(waits.mean())} | percentiles(waits + holds, 50, 99)

    return asked


def timeout_and_retry(draw: np.random.Generator) -> dict[str, float]:
    """Question 18: 30 requests/s, 10 threads; 40, 200 or 300 ms; after 250 ms once again."""
    times, weights = np.array([0.040, 0.200, 0.300]), np.array([98.5, 1.0, 0.5])
    first = mixture(draw, times, weights, REQUESTS)
    second = np.minimum(mixture(draw, times, weights, REQUESTS), 0.250)
    holds = np.where(first > 0.250, 0.250 + second, first)
    arrivals = np.cumsum(draw.exponential(1 / 30, REQUESTS))
    waits = waits_for_servers(arrivals, holds, 10)
    return {"wait": float(waits.mean())} | percentiles(waits + holds, 50, 98, 99, 99.8)


def hedged_replica(draw: np.random.Generator) -> dict[str, float]:
    """Question 20: exponential times of 10 ms on average; a second copy after p95 (29.96 ms)."""
    delay = -0.010 * np.log(0.05)
    first = draw.exponential(0.010, REQUESTS)
    second = delay + draw.exponential(0.010, REQUESTS)
    times = np.minimum(first, second)
    return {"calls": float(1 + (first > delay).mean())} | percentiles(times, 50, 90, 96, 99, 99.9)


QUESTIONS: dict[str, Callable[[np.random.Generator], dict[str, float]]] = {
    "1": latency_mix,
    "2": one_in_a_hundred,
    "3": slow_query_pool,
    "4": held_fifty_times_longer,
    "5": fan_out(100),
    "6": fan_out(1_000),
    "7": fan_out(100),
    "8": fan_out(50),
    "9 and 19": hedged_fan_out,
    "10": fan_out(10),
    "11, 3 retries": retried(0.5, 3),
    "11, 5 retries": retried(0.5, 5),
    "12": tries_in_layers(1, 3),
    "13": tries_in_layers(4, 3),
    "14": tries_in_layers(3, 3),
    "15": third_fails,
    "16, 5 %": sent_again(0.05),
    "16, 10 %": sent_again(0.10),
    "17, 50 threads": threads_of_ten_ms(50),
    "17, 55 threads": threads_of_ten_ms(55),
    "18": timeout_and_retry,
    "20": hedged_replica,
}


def main() -> None:
    """Print what each question comes to."""
    for number, question in QUESTIONS.items():
        found = question(np.random.default_rng(7))
        values = ", ".join(f"{name} {value:.6g}" for name, value in found.items())
        print(f"{number}: {values}")


if __name__ == "__main__":
    main()
