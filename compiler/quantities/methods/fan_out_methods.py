"""Methods of calls that are made many times at once: all responses, or the first."""

from __future__ import annotations

from types import MappingProxyType

from msgspec.structs import replace

from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.methods.method_row import TAIL, UPPER, Method, Of, Rows

_CORRELATED_ERROR = 0.25
_CORRELATED_NOTES = {"": "within {error:%} of simulation"}

_ASSOCIATED = Method(
    name="fan-out: the longest of independent times (associated variables)",
    of=(Of.MEAN, *TAIL),
    kind=UPPER,
    reason="calls to {at} are treated as independent, though they start together",
    notes={
        "": (
            "for 100 calls to equal M/M/1 queues, the mean was 1.13–1.35× the "
            "simulated value at "
            "utilizations of 30–80 %, the median 1.15–1.39×, p99 1.01–1.02×"
        )
    },
    sources=("Baccelli, Makowski and Shwartz 1989", "David and Nagaraja 2003"),
)
OF_FAN_OUTS: Rows = MappingProxyType(
    {
        "fan-out-independent": Method(
            name="order statistics of independent calls",
            of=(Of.MEAN, *TAIL),
            kind=CertaintyKind.EXACT,
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-associated": _ASSOCIATED,
        "fan-out-associated-of-many": replace(
            _ASSOCIATED,
            name="fan-out: the longest of many independent times (associated variables)",
        ),
        "fan-out-to-cores": Method(
            name="fan-out to the cores of one machine: the last of a batch, then the longest",
            of=(Of.MEAN, *TAIL),
            reason=(
                "calls to {at} come together: the last waits for the others, and those that are "
                "served at once are treated as independent"
            ),
            notes={
                "few": "within {error:%} of simulation for 2 to 32 exponential services",
                "fixed": "within {error:%} of simulation for 2 to 32 fixed services",
            },
            errors={"few": 0.2, "fixed": 0.3},
            measured=(
                "158 of 160 numbers of 40 random fan-outs: "
                "`python tests/stages/batches_on_cores.py 40 1000`; of fixed services 157 of "
                "160: `python tests/stages/batches_on_cores.py 40 9000 fixed`"
            ),
            sources=("Fredericks 1980", "David and Nagaraja 2003"),
        ),
        "fan-out-to-machines": Method(
            name="fan-out to several machines with several calls each: the longest of batches",
            of=(Of.MEAN, *TAIL),
            reason=(
                "calls to {at} come together at each machine: batches that wait at the same times "
                "are treated as fewer independent ones, or as one"
            ),
            notes={
                "few": (
                    "within {error:%} of simulation for 3 to 32 exponential or fixed services on "
                    "2 to 20 machines"
                ),
            },
            errors={"few": 0.25},
            measured=(
                "197 of 200 numbers of 50 random fan-outs that nothing was chosen by: "
                "`python tests/stages/batches_on_cores.py 50 13000 machines`"
            ),
            sources=("Fredericks 1980", "David and Nagaraja 2003"),
        ),
        "fan-out-to-one-machine": Method(
            name="fan-out to fewer machines than calls: the longest of independent times",
            of=(Of.MEAN, *TAIL),
            reason=(
                "calls to {at} share machines, and are treated as independent: the last of those "
                "that come together may be later"
            ),
        ),
        "unlike-to-one-machine": Method(
            name="fan-out of unlike services to one machine: the longest of independent times",
            of=(Of.MEAN, *TAIL),
            reason=(
                "calls to {at} of unlike services share machines, and are treated as independent, "
                "though they wait for each other"
            ),
            notes={
                "": (
                    "for two to eight calls to one server of which 1 % to 20 % took 2 to 100 times "
                    "as long, means were 1.2–3× the simulated values, medians 1.3–20×, 95th "
                    "percentiles 1.1–2.2× and 99th 0.97–1.4×"
                )
            },
            measured="`python tests/stages/alternatives_at_once.py 24 100`",
        ),
        "batch-of-alternatives": Method(
            name="alternatives at once to one server: a batch with the moments of their mixture",
            of=TAIL,
            reason=(
                "calls to {at} that draw unlike services come together as one batch, the work of "
                "which is assumed to be gamma distributed"
            ),
            notes={
                "": (
                    "for two to eight calls of which 1 % to 20 % took up to 5 times as long, "
                    "percentiles were 0.86–1.13× the simulated values, up to 10 times 0.72–1.3×, "
                    "up to 20 times 0.5–2×"
                )
            },
            measured="`python tests/stages/alternatives_at_once.py 24 100`",
            sources=("Fredericks 1980",),
        ),
        "calls-that-meet": Method(
            name="unlike calls at once to one machine: the last of a batch",
            of=(Of.MEAN, *TAIL),
            reason="calls to {at} come together: the last of them waits for the others",
            notes={"measured": "within {error:%} of simulation for 2 to 8 exponential services"},
            errors={"measured": 0.2},
            measured=(
                "all of 252 numbers of 63 random batches, at most 16 % off: "
                "`python tests/stages/unlike_calls_at_once.py 34 7000` and `29 7100`"
            ),
            sources=("Fredericks 1980", "David and Nagaraja 2003"),
        ),
        "fan-out-longest": Method(
            name="fan-out by chance: the longest of independent times, from their distributions",
            of=(Of.MEAN, *TAIL),
            reason="all responses from {at} are computed as if calls were independent, though they "
            "start together",
            notes={
                "few": "within {error:%} of simulation",
                "many": "up to twice the simulated value",
                "": (
                    "for 8 of 20 M/D/1 queues, called by 30 % of the requests, percentiles were "
                    "1.01–1.2× the simulated values, for 8 of 8 with other traffic 1.00–1.14×"
                ),
            },
            errors={"few": 0.25, "many": 1.0},
            measured=(
                "99 % of 103 numbers of 22 random fan-outs up to 10 calls and all of 86 of 18 up "
                "to 100, 100 % and 97 % of others: `python tests/network/first_answers.py 40 0 all`"
            ),
            sources=("Baccelli, Makowski and Shwartz 1989", "David and Nagaraja 2003"),
        ),
        "fan-out-first": Method(
            name="fan-out: order statistics of calls treated as independent",
            of=(Of.MEAN, *TAIL),
            reason="the first responses from {at} are computed as if calls were independent, "
            "though they start together",
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-first-of-many": Method(
            name="fan-out: order statistics of many calls treated as independent",
            of=(Of.MEAN, *TAIL),
            reason="the first responses from {at} are computed as if calls were independent, "
            "though they start together",
            notes={
                "": (
                    "for 100 calls to equal M/M/1 queues without other traffic, at utilizations of "
                    "30–80 %, the mean of the first 90 was 1.05–1.12× the simulated value, p99 "
                    "0.57–0.67×; p99 of the first 50 0.34–0.45×"
                )
            },
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-correlated": Method(
            name="fan-out: order statistics of calls with correlated waits (Gaussian copula)",
            of=(Of.MEAN, *TAIL),
            reason="the first responses from {at} are order statistics of calls whose waits are "
            "correlated, because they start together",
            notes=_CORRELATED_NOTES,
            error=_CORRELATED_ERROR,
            measured="95 % of 120 random fan-outs: `python tests/network/first_answers.py 120`",
            sources=("David and Nagaraja 2003",),
        ),
        "fan-out-equal": Method(
            name="fan-out to equal M/M/1 queues by Nelson and Tantawi",
            of=(Of.MEAN,),
            reason="the response time of the slowest of several identical queues uses the "
            "Nelson-Tantawi approximation (1988)",
            notes={"": "within 1.3 % of simulation for 100 queues, and 4 % for 1,000"},
            error=0.1,
            sources=("Nelson and Tantawi 1988",),
        ),
    }
)
