"""Theorems: exact where all premises hold."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.methods.method_row import CLOSED, TAIL, TIMES, Method, Of, Rows

_ONE_BY_ONE = ("poisson", "not-behind-a-pool", "single")
_EXPONENTIAL = ("exponential-service", "equal-service", "whole-visits")

THEOREMS: Rows = MappingProxyType(
    {
        "pollaczek-khinchine": Method(
            name="Pollaczek-Khinchine (M/G/1, M[X]/G/1)",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            sources=("Pollaczek 1930", "Khinchine 1932"),
            premises=(
                "poisson",
                "not-behind-a-pool",
                "independent-batches",
                "one-server",
                "whole-visits",
                "no-other-load",
            ),
        ),
        "mixture-wait": Method(
            name="waiting time of M/G/1 with a mixture of services (Pollaczek-Khinchine transform)",
            of=TAIL,
            kind=CertaintyKind.EXACT,
            sources=("Pollaczek 1930", "Khinchine 1932", "Kleinrock 1975"),
            premises=(
                *_ONE_BY_ONE,
                "one-server",
                "fixed-or-exponential-service",
                "few-services",
                "whole-visits",
                "no-other-load",
            ),
        ),
        "m-m-1-sojourn": Method(
            name="sojourn time of M/M/1",
            of=TAIL,
            kind=CertaintyKind.EXACT,
            sources=("Kleinrock 1975",),
            premises=(*_ONE_BY_ONE, "one-server", *_EXPONENTIAL),
        ),
        "m-d-1-wait": Method(
            name="waiting time of M/D/1",
            of=TAIL,
            kind=CertaintyKind.EXACT,
            sources=("Erlang 1909",),
            premises=(*_ONE_BY_ONE, "one-server", "fixed-service", "equal-service", "whole-visits"),
        ),
        "erlang-c": Method(
            name="Erlang C (M/M/c)",
            of=TIMES,
            kind=CertaintyKind.EXACT,
            sources=("Erlang 1917",),
            premises=(*_ONE_BY_ONE, *_EXPONENTIAL),
        ),
        "erlang-c-of-a-pool": Method(
            name="Erlang C (M/M/c) of a pool that is held for one exponential service",
            of=TIMES,
            kind=CertaintyKind.EXACT,
            sources=("Erlang 1917",),
            premises=("poisson-at-pool", "exponential-holds"),
        ),
        "one-service-while-held": Method(
            name="load-dependent station: a pool held for one exponential service (M/M/c//N)",
            of=CLOSED,
            kind=CertaintyKind.EXACT,
            sources=("Chandy, Herzog and Woo 1975", "Baskett et al. 1975"),
            premises=("no-pools",),
        ),
        "enough-servers": Method(
            name="delay: a station with a server for each unit of the pools around it",
            of=(Of.MEAN, Of.LOAD),
            kind=CertaintyKind.EXACT,
            premises=("enough-servers",),
        ),
        "stated-service": Method(
            name="service time at a station without a queue",
            of=TAIL,
            kind=CertaintyKind.EXACT,
            premises=("enough-servers", "whole-visits"),
        ),
        "processor-sharing": Method(
            name="processor sharing (M/G/1-PS)",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            sources=("Sakata, Noguchi and Oizumi 1969", "Kelly 1979"),
            premises=_ONE_BY_ONE,
        ),
        "load-dependent-sharing": Method(
            name="load-dependent processor sharing",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            sources=("Kelly 1979",),
            premises=_ONE_BY_ONE,
        ),
        "priority": Method(
            name="priority queue (Cobham)",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            sources=("Cobham 1954", "Kella and Yechiali 1985"),
            premises=(*_ONE_BY_ONE, "one-server-or-equal", "whole-visits"),
        ),
        "nd-d-1": Method(
            name="superposed periodic streams (N*D/D/1)",
            of=TIMES,
            kind=CertaintyKind.EXACT,
            sources=("Roberts and Virtamo 1991",),
            premises=(
                "periodic",
                "one-period",
                "not-behind-a-pool",
                "equal-service",
                "whole-visits",
            ),
        ),
        "m-m-c-k": Method(
            name="finite queue (M/M/c/K)",
            of=TIMES,
            kind=CertaintyKind.EXACT,
            sources=("Kleinrock 1975",),
            premises=(*_ONE_BY_ONE, *_EXPONENTIAL),
        ),
        "blocking": Method(
            name="blocking probability (M/M/c/K)",
            of=(Of.LOSS,),
            kind=CertaintyKind.EXACT,
            sources=("Kleinrock 1975",),
            premises=("random-or-room", "single", "exponential-service", "equal-service"),
        ),
        "erlang-b": Method(
            name="Erlang B (M/G/c/c)",
            of=(Of.LOSS,),
            kind=CertaintyKind.EXACT,
            sources=("Erlang 1917",),
            premises=("random-or-room", "single"),
        ),
        "loss-system": Method(
            name="loss system (M/G/c/c)",
            of=TIMES,
            kind=CertaintyKind.EXACT,
            sources=("Erlang 1917",),
            premises=(*_ONE_BY_ONE, "whole-visits"),
        ),
        "product-form": Method(
            name="product-form network (BCMP)",
            of=CLOSED,
            kind=CertaintyKind.EXACT,
            sources=("Baskett et al. 1975", "Reiser and Lavenberg 1980"),
            premises=(
                "product-form-stations",
                "no-saturation",
                "free-choice",
                "few-enough-users",
                "whole-population",
                "one-place-at-a-time",
                "no-pools",
                "no-forks",
                "no-priorities",
                "no-loss",
            ),
        ),
        "product-form-station": Method(
            name="product-form station (BCMP)",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            sources=("Baskett et al. 1975",),
            premises=("not-behind-a-pool", "product-form-station", "whole-visits"),
        ),
        "path-of-stages": Method(
            name="sum of independent stages",
            of=TAIL,
            kind=CertaintyKind.EXACT,
            sources=("Reich 1957", "Burke 1969", "Walrand and Varaiya 1980"),
            premises=("one-path", "at-most-one-chance", "independent-stages"),
        ),
        "mixture-of-classes": Method(
            name="percentile over all classes of users or items (law of total probability)",
            of=TAIL,
            kind=CertaintyKind.EXACT,
        ),
        "sum-of-means": Method(
            name="mean of a sum",
            of=(Of.MEAN,),
            kind=CertaintyKind.EXACT,
            premises=("queueing-modeled",),
        ),
        "flow-balance": Method(
            name="flow balance",
            of=(Of.RATE, Of.LOSS),
            kind=CertaintyKind.EXACT,
            sources=("Denning and Buzen 1978",),
        ),
        "utilization-law": Method(
            name="utilization law",
            of=(Of.LOAD,),
            kind=CertaintyKind.EXACT,
            sources=("Denning and Buzen 1978",),
        ),
        "sum-of-variances": Method(
            name="variance of a sum of independent times",
            of=(Of.JITTER,),
            kind=CertaintyKind.EXACT,
            premises=("variance-known", "independent-stages"),
        ),
    }
)
