"""Methods of closed networks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import CLOSED, TAIL, Method, Rows, Steps

_CLOSED_GAMMA = {
    "users": 0.45,
    "users and open traffic": 0.55,
    "users and open traffic far apart": 0.7,
    "parallel calls": 0.4,
}
"""Of percentiles up to p99, by who visits, and whether services are far apart.

Of users alone whose services are far apart 95 % are within 130 %: nothing is stated.
With up to three parallel calls they are those of one class in
`laboratory/questions/fork_network_simulation.py`.
"""
_RESIDUAL_ERRORS = {
    "rates": ((10, 0.15), (60, 0.15)),
    "times": ((10, 0.2), (60, 0.2)),
    "percentiles": ((10, 0.4), (60, 0.7)),
}
_RESIDUAL_NOTES = dict.fromkeys(
    _RESIDUAL_ERRORS,
    "for services up to {most:g} times as long as others, throughput within {rates:%} of "
    "simulation, response times within {times:%}, percentiles within {percentiles:%}",
)
_SATURATED = 0.1
_SATURATED_NOTES = {"": "throughput and mean response times within {error:%}"}
_SATURATED_ERRORS = {"medians": 0.2, "p95": 0.5, "p99": 0.7}
_SATURATED_SHARES: Mapping[str, Steps] = {"shares": ((20, 1.0),)}
"""Up to so many items to one that takes longer."""
_UNFITTED = (
    "means; medians 20 %, 95th percentiles 50 %, 99th 70 %. Of 40 networks not fitted to, 95 % "
    "were within 6, 15, 37, and 67 % (`python tests/oracles/saturated_users.py 40 1000`), of 40 "
    "that it was fitted to within 4, 13, 46, and 53 %"
)
_THROUGHPUT_AND_TIMES = "throughput within {rates:%} of simulation, response times within {times:%}"
_SHADOW_SERVER_ERRORS: Mapping[str, Mapping[str, float]] = {
    "exponential": {},
    "up to 2": {"rate": 0.15, "load": 0.15, "latency": 0.5, "quantile": 0.8},
    "up to 3": {"rate": 0.3, "load": 0.3, "latency": 0.8, "quantile": 0.8},
    "beyond": {},
}
"""By the coefficient of variation of service, and by quantity: they hold whatever else has a part.

Those of exponential services are in the table of measured errors.
"""
_SHADOW_SERVERS_MEASURED = (
    "95 % of 116 random networks: `python tests/oracles/closed/shadow_servers.py 105 5000`, `55 0`"
)
_SHADOW_SERVER_NOTE = (
    ": predicted response times were 0.9–1.13× the exact values in 90 % of the test networks, and "
    "1.9× if high priority uses 80 % of the server"
)


def _shadow_server(services: str, of: str, note: str = "") -> Method:
    errors = _SHADOW_SERVER_ERRORS[of]
    return Method(
        name=f"shadow server: high-priority load slows the server for lower priorities{services}",
        of=CLOSED,
        reason=(
            "high-priority load at {at} is modeled as a slower server for lower priorities"
            f"{services}{note}"
        ),
        errors=errors,
        measured=_SHADOW_SERVERS_MEASURED if errors else "",
        sources=("Sevcik 1977",),
        fails=("no-priorities",),
        instead=("product-form",),
    )


OF_CLOSED: Rows = MappingProxyType(
    {
        "linearizer": Method(
            name="Linearizer: approximate mean value analysis",
            of=CLOSED,
            reason=(
                "{at} are solved with the Linearizer algorithm and interpolated between "
                "populations: throughput within 5 %, response times within {error:%}"
            ),
            error=0.1,
            sources=("Chandy and Neuse 1982",),
            fails=("few-enough-users",),
            instead=("product-form",),
        ),
        "shared-load-dependent": Method(
            name="Linearizer with load-dependent stations shared by several classes",
            of=CLOSED,
            reason="{at} share load-dependent stations, solved with the Linearizer algorithm",
            notes={"": "throughput within 10 %, response times within {error:%}"},
            error=0.2,
            sources=("Chandy and Neuse 1982", "Chandy, Herzog and Woo 1975"),
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "product-form-by-means": Method(
            name="non-exponential service times, as in a product-form network",
            of=CLOSED,
            reason=(
                "visits to {at} are modeled by their mean service time only, as in a product-form "
                "network"
            ),
            notes={
                "times": _THROUGHPUT_AND_TIMES,
                "rates": _THROUGHPUT_AND_TIMES,
                "beyond": (
                    "throughput within {rates:%} of simulation for coefficients of variation up to "
                    "{most:g}, response times within {times:%}"
                ),
            },
            up_to={
                "rates": ((2, 0.15), (3, 0.2), (4, 0.35)),
                "times": ((2, 0.6), (3, 0.6), (4, 0.7)),
            },
            measured="95 % of 300 random networks: `python tests/oracles/residual_service.py 300`",
            sources=("Reiser and Lavenberg 1980",),
            fails=("exponential-service",),
            instead=("product-form",),
        ),
        "residual-service": Method(
            name="mean value analysis with residual services of unequal lengths",
            of=CLOSED,
            reason=(
                "users at {at} wait for the rest of a service that they find, and long ones are "
                "found more often"
            ),
            notes=_RESIDUAL_NOTES,
            up_to=_RESIDUAL_ERRORS,
            measured=(
                "95 % of 140 random networks: "
                "`python tests/oracles/closed_alternatives.py 140 1000`; of 304 errors stated in "
                "60 networks with a pool that nothing was fitted to 98 % hold: "
                "`python tests/oracles/closed/pooled_alternatives.py 60 7000`"
            ),
            sources=("Reiser 1979", "Schweitzer 1979", "Pollaczek 1930", "Khinchine 1932"),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "unequal-services": Method(
            name="class-dependent service times, as in a product-form network",
            of=CLOSED,
            reason=(
                "service times at {at} differ by class; queueing delay is that of a product-form "
                "network"
            ),
            notes=dict.fromkeys(
                ("times", "rates"),
                "if they differ by a factor of up to {most:g}, throughput within {rates:%} of "
                "simulation, response times within {times:%}",
            ),
            up_to={
                "rates": ((1.35, 0.2), (2, 0.5), (3, 0.8)),
                "times": ((1.35, 0.3), (2, 0.6), (3, 1.1)),
            },
            measured="95 % of 400 random networks: `python tests/oracles/unlike_services.py 400`",
            sources=("Reiser and Lavenberg 1980",),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "far-unequal-services": Method(
            name="class-dependent service times that differ widely, as in a product-form network",
            of=CLOSED,
            reason=(
                "service times at {at} differ by class by a factor of more than {most:g}; queueing "
                "delay is that of a product-form network"
            ),
            notes={"": "the model error can reach the ratio of the service times"},
            errors={
                "latency": 0.8,
                "rate": 0.4,
                "load": 0.4,
                "low quantile": 0.7,
                "quantile": 0.8,
            },
            by_delay={
                "latency": ((0.3, 0.15), (0.95, 0.5), (1.8, 0.6)),
                "rate": ((0.3, 0.1), (0.95, 0.2), (1.8, 0.25)),
                "low quantile": ((1.8, 0.65),),
                "quantile": ((0.14, 0.3), (0.95, 0.5), (1.8, 0.7), (4.9, 0.8), (14.6, 0.9)),
                "share beyond": ((0.14, 0.5), (1.1, 1.0)),
            },
            measured=(
                "95 % of 218 random networks in which no more users wait than stations serve: "
                "`python tests/oracles/unlike_services.py 4500`; percentiles of 126, and 172 by "
                "queueing delay; of 188 errors stated in 27 networks not fitted to 96 % hold: "
                "`python tests/oracles/unlike_services.py 220 21000`"
            ),
            sources=("Reiser and Lavenberg 1980",),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "open-work-found": Method(
            name="open work found by users who return: transient M/G/1 queue",
            of=CLOSED,
            reason=(
                "service times at {at} are not all exponential with the same mean; users who "
                "return find the open work that came while they waited and were served"
            ),
            notes={
                "times": "response times within {error:%} of simulation",
                "rates": "throughput within {error:%} of simulation",
            },
            errors={"times": 0.25, "rates": 0.15},
            measured="95 % of 120 random networks: `python tests/oracles/open_work_found.py 120`",
            sources=("Takács 1962", "Brumelle 1971", "Reiser and Lavenberg 1980"),
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "open-work-percentiles": Method(
            name="waits for open work as an atom and an exponential time",
            of=TAIL,
            reason=(
                "a part of the users at {at} waits for an exponential time, with the mean and "
                "variance of the open work found: percentiles within {error:%} of simulation"
            ),
            error=0.7,
            measured="95 % of 120 random networks: `python tests/oracles/open_work_found.py 120`",
            sources=("Brumelle 1971",),
        ),
        "unequal-beside-closed": Method(
            name="first come, first served shared by closed and other classes, as in product form",
            of=CLOSED,
            reason=(
                "{at} serves closed and other streams first come, first served, although their "
                "service times are not all exponential with the same mean"
            ),
            sources=("Baskett et al. 1975",),
            fails=("product-form-station", "product-form-stations"),
            instead=("product-form",),
        ),
        "shadow-server": _shadow_server("", "exponential", _SHADOW_SERVER_NOTE),
        "varied-shadow-server": _shadow_server(
            ", service times with a coefficient of variation up to 2", "up to 2"
        ),
        "far-varied-shadow-server": _shadow_server(
            ", service times with a coefficient of variation up to 3", "up to 3"
        ),
        "unmeasured-shadow-server": _shadow_server(
            ", service times with an unknown coefficient of variation, or one above 3", "beyond"
        ),
        "closed-gamma-sharing": Method(
            name="gamma-distributed response times at processor sharing",
            of=TAIL,
            reason="response time at {at} is assumed to be gamma distributed",
            notes={
                "": (
                    "predicted percentiles were 0.75–1.15× the exact values at one server shared "
                    "with closed streams, and 0.5–1.45× for closed streams and for several servers"
                )
            },
            error=1.0,
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        "closed-gamma": Method(
            name="gamma-distributed response times at first come first served",
            of=TAIL,
            reason=(
                "response time at {at} is assumed to be gamma distributed, with a variance that "
                "follows from the number of requests ahead"
            ),
            notes=dict.fromkeys(_CLOSED_GAMMA, "within {error:%} of simulation"),
            errors=_CLOSED_GAMMA,
            measured="95 % of 200 random networks: `python tests/oracles/unlike_services.py 200`",
        ),
        "saturation-slows-all": Method(
            name="saturation of a station without queueing that several streams share",
            of=CLOSED,
            reason="while {at:or} is saturated, each visit is assumed to wait equally long there",
            notes=_SATURATED_NOTES,
            error=_SATURATED,
            errors=_SATURATED_ERRORS,
            up_to=_SATURATED_SHARES,
            measured=_UNFITTED,
            sources=("Denning and Buzen 1978",),
            fails=("no-saturation",),
            instead=("product-form",),
        ),
        "saturation-of-others": Method(
            name="saturation without queueing that delays others",
            of=CLOSED,
            reason="queueing delay at {at} is zero up to saturation, and a constant delay there",
            notes=_SATURATED_NOTES,
            error=_SATURATED,
            errors=_SATURATED_ERRORS,
            up_to=_SATURATED_SHARES,
            measured=_UNFITTED,
            sources=("Denning and Buzen 1978",),
            fails=("no-saturation",),
            instead=("product-form",),
        ),
        "fractional-population": Method(
            name="interpolation between whole populations",
            of=CLOSED,
            reason=(
                "results for a fractional number of requests in flight of {at} are interpolated "
                "between whole numbers"
            ),
            fails=("whole-population",),
            instead=("product-form",),
        ),
        "visits-in-sequence": Method(
            name="simultaneous resource possession treated as visits in sequence",
            of=CLOSED,
            reason="simultaneous visits to {at} are modeled as sequential",
            fails=("one-place-at-a-time",),
            instead=("product-form",),
        ),
        "flow-equivalent-server": Method(
            name="flow-equivalent server of the work done while a pool is held",
            of=CLOSED,
            reason="work inside the pool {at} is replaced by a flow-equivalent server",
            notes={"": "throughput within {error:%}, response times above the knee within 20 %"},
            error=0.1,
            sources=("Chandy, Herzog and Woo 1975",),
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "delay-in-a-cycle": Method(
            name="machine repair model (M/M/c//N), corrected for fixed holding times",
            of=CLOSED,
            reason="queueing delay for {at} assumes random think times and fixed holding times",
            notes={
                "alone": "throughput within 2 %, response times within {error:%} of simulation",
                "with stations": (
                    "with other queues, holding times count as exponential: throughput within 6 "
                    "%, response times within {error:%}"
                ),
            },
            errors={"alone": 0.06, "with stations": 0.45},
            measured="`python laboratory/questions/closed_pool_simulation.py`",
            sources=("Chandy, Herzog and Woo 1975", "Pollaczek 1930", "Khinchine 1932"),
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "held-as-not-held": Method(
            name="visits with and without a pool treated as equal",
            of=CLOSED,
            reason="visits to {at} while a pool is held are modeled like visits without it",
            fails=("no-pools",),
            instead=("product-form",),
        ),
        "any-of-the-copies": Method(
            name="machines tied to a pool unit treated as chosen at random",
            of=CLOSED,
            reason=(
                "items that hold {by} return to the same {node}, modeled as if each visit chose "
                "one at random"
            ),
            fails=("free-choice",),
            instead=("product-form",),
        ),
        "closed-fork-join": Method(
            name="fork and join in a closed network: mean value technique",
            of=CLOSED,
            reason=(
                "parallel calls of {at} are modeled as the maximum of independent times: "
                "within {error:%}"
            ),
            error=0.1,
            sources=("Varki 1999", "Chandy and Neuse 1982"),
            fails=("no-forks",),
            instead=("product-form",),
        ),
        "lost-users-think": Method(
            name="loss in a closed network",
            of=CLOSED,
            reason="users of {at} whose request is lost are assumed to start thinking immediately",
            fails=("no-loss",),
            instead=("product-form",),
        ),
        "kinds-as-equal": Method(
            name="several types of items in one class treated as identical",
            of=CLOSED,
            reason="visits to {at} by several types of items are treated as identical",
            fails=("equal-service",),
            instead=("product-form",),
        ),
        "own-as-any": Method(
            name="each holder's own station treated as one chosen at random",
            of=CLOSED,
            reason="items that use their holder's own {at} are modeled as choosing one at random",
            fails=("free-choice",),
            instead=("product-form",),
        ),
    }
)
