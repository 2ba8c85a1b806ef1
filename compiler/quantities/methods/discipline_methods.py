"""Methods of other disciplines: processor sharing, priorities, clocks, and finite room."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import TAIL, TIMES, UPPER, Method, Of, Rows

OF_DISCIPLINES: Rows = MappingProxyType(
    {
        # -- processor sharing ----------------------------------------------------------------
        "batch-sharing": Method(
            name="processor sharing with batches of exponential jobs",
            of=(Of.MEAN,),
            reason=("copies sent together share {at} like exponential jobs of equal mean"),
            sources=("Kleinrock, Muntz and Rodemich 1971",),
            fails=("single",),
            instead=("processor-sharing",),
        ),
        "cpu-quota": Method(
            name="processor sharing under a CPU limit, between full speed and short periods",
            of=(Of.MEAN,),
            reason="the effect of the CPU limit at {at} is interpolated between two exact limits",
            notes={
                "exponential": (
                    "in 300 simulated settings with exponential service, 98 % of the means were "
                    "0.83–1.14×"
                ),
                "other": (
                    "in 600 simulated settings, 98 % of the means were 0.89–1.06× at a cv of 2, "
                    "and 0.74–1.11× for constant service (extremes: 0.6–2.1×)"
                ),
            },
            errors={"exponential": 0.3},
            sources=("Turner, Rao and Rao 2010", "Kelly 1979"),
            fails=("exponential-service",),
            instead=("processor-sharing",),
        ),
        "cpu-quota-percentiles": Method(
            name="response time under a CPU limit, two gamma distributions by two moments",
            of=TAIL,
            reason=(
                "percentiles at {at} are those of visits at full speed or of visits slowed down by "
                "the CPU limit"
            ),
            notes={
                "exponential": (
                    "in 300 simulated settings with exponential service, 98 % were "
                    "0.75–1.25× from p90 to p99, and 0.66–1.4× at p50 and p99.9"
                ),
                "other": (
                    "in 600 simulated settings, 98 % were 0.8–1.3× from p90 to p99 at a cv of 2; "
                    "for constant service, p99 can be far too low if few visits are throttled"
                ),
            },
            errors={"exponential": 0.6},
            sources=("Turner, Rao and Rao 2010",),
        ),
        "sharing-renewals": Method(
            name="GI/M(n)/1 processor sharing by two moments of interarrival times",
            of=TIMES,
            reason="arrivals at {at} are approximated by two moments",
            notes={
                "mean": (
                    "compared with exact Markov chains with exponential service, predicted times "
                    "were 0.86–1.2× up to a cv of 2, and 0.86–1.7× at a cv of 3"
                ),
                "percentiles": (
                    "in simulations with exponential service, predicted percentiles were 0.9–1.26× "
                    "up to a cv of 2, and 0.9–1.7× at a cv of 3"
                ),
            },
            up_to={
                "mean": ((2, 0.25), (3, 0.7)),
                "percentiles": ((2, 0.3), (3, 0.8)),
            },
            sources=("Whitt 1983",),
            fails=("poisson",),
            instead=("processor-sharing", "load-dependent-sharing"),
        ),
        "sharing-percentiles": Method(
            name="M/M/1 processor sharing, Weibull distribution with exact first two moments",
            of=TAIL,
            reason=(
                "percentiles at {at} assume exponential service times; for these, within 8 % up to "
                "p99, {error:%} beyond; for others, such as constant ones, no model error is known"
            ),
            error=0.12,
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        "sharing-with-a-constant-number": Method(
            name=(
                "processor sharing of exponential visits, variance of equal visits scaled to "
                "visits of unequal length"
            ),
            of=TAIL,
            reason=(
                "percentiles at {at} assume exponential service times, and that short visits see a "
                "constant number of concurrent visits, and long ones their mean number: within "
                "{error:%} for exponential service times; for others, such as constant ones, no "
                "model error is known"
            ),
            error=0.25,
            sources=("Coffman, Muntz and Trotter 1970",),
            fails=("equal-service",),
        ),
        "sharing-waits": Method(
            name=(
                "waiting time at processor sharing of exponential visits, by its probability and "
                "two moments"
            ),
            of=TAIL,
            reason=(
                "percentiles of the waiting time at {at} assume exponential service times: for "
                "these, within {error:%} from p50 to p99 where they are not 0; for others, such as "
                "constant ones, no model error is known"
            ),
            error=0.35,
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        "sharing-at-speeds": Method(
            name=(
                "load-dependent processor sharing of exponential visits, Weibull distribution of "
                "two moments"
            ),
            of=TAIL,
            reason=(
                "percentiles at {at} assume exponential service times and are fitted to two "
                "moments: within {error:%} for exponential service times; for others, such as "
                "constant ones, no model error is known"
            ),
            error=0.25,
            sources=("Kelly 1979",),
        ),
        # -- priorities -----------------------------------------------------------------------
        "batch-by-priority": Method(
            name="priority queue with batches",
            of=(Of.MEAN,),
            reason="copies sent together are queued by priority at {at} individually",
            sources=("Cobham 1954",),
            fails=("single",),
            instead=("priority",),
        ),
        "priority-scaled": Method(
            name="priorities at several servers by Bondi and Buzen",
            of=(Of.MEAN,),
            reason=(
                "queueing delay of each priority at the cores of {at} is scaled from a queue with "
                "equal service times and no priorities"
            ),
            notes={"": "Bondi-Buzen approximation (1984)"},
            sources=("Bondi and Buzen 1984",),
            fails=("one-server",),
            instead=("priority",),
        ),
        "priority-gamma": Method(
            name="queueing delay of each priority, gamma distribution of two moments",
            of=TAIL,
            reason="queueing delay of each priority at {at} is assumed to be gamma distributed",
            notes=dict.fromkeys(
                ("exponential", "non-preemptive", "preemptive"),
                "within 5 % of simulation in most cases, always within {error:%}",
            ),
            errors={"exponential": 0.25, "non-preemptive": 0.35, "preemptive": 0.55},
            sources=("Kesten and Runnenburg 1957",),
        ),
        "priority-waits": Method(
            name="wait of each priority, gamma distribution of two moments",
            of=TAIL,
            reason=(
                "the waiting time of each priority at {at} is assumed to be gamma distributed: "
                "within {error:%} from p50 to p99 where it is not 0"
            ),
            error=0.12,
            sources=("Kesten and Runnenburg 1957",),
        ),
        # -- periodic arrivals ----------------------------------------------------------------
        "share-of-periodic": Method(
            name="a fraction of periodic items treated as periodic",
            of=TIMES,
            reason="only some of the periodic items visit {at}; they are assumed to be periodic",
            fails=("periodic",),
            instead=("nd-d-1",),
        ),
        "sizes-in-one-flow": Method(
            name="items of different sizes in one flow treated as several flows",
            of=TIMES,
            reason=(
                "items of different sizes in one flow at {at} are treated as several flows: "
                "conservative"
            ),
            fails=("equal-service",),
            instead=("nd-d-1",),
        ),
        "longest-period": Method(
            name="flows of different periods treated as flows of the longest period",
            of=TIMES,
            reason="flows of different periods at {at} are treated as flows of the longest period",
            fails=("one-period",),
            instead=("nd-d-1",),
        ),
        "unequal-periodic-flows": Method(
            name="periodic flows of different sizes",
            of=TIMES,
            kind=UPPER,
            reason="flows at {at} differ in size",
            sources=("Roberts and Virtamo 1991",),
            fails=("equal-service",),
            instead=("nd-d-1",),
        ),
        # -- loss and finite room -------------------------------------------------------------
        "loss-ignores-departures": Method(
            name="blocking probability for Poisson arrivals behind another queue",
            of=(Of.LOSS,),
            reason=(
                "loss at {at} is modeled with the arrivals of the source, although {by} changes "
                "their spacing"
            ),
            notes={"": "the true loss may be many times larger or smaller"},
            fails=("poisson",),
            instead=("blocking", "erlang-b"),
        ),
        "kinds-averaged": Method(
            name="kinds of users averaged where each user has a place of its own",
            of=(*TIMES, Of.LOSS),
            reason=(
                "each place of {at} has users of one kind, and is modeled with the mean over all "
                "kinds: those of the busiest kind wait longer and lose more; write a stream and a "
                "node for each kind"
            ),
            fails=("poisson",),
        ),
        "loss-ignores-bursts": Method(
            name="blocking probability with bursts averaged out",
            of=(Of.LOSS,),
            reason="loss at {at} ignores bursts",
            fails=("poisson",),
            instead=("blocking", "erlang-b"),
        ),
        "hayward": Method(
            name="Hayward's approximation: Erlang B by the peakedness of arrivals",
            of=(Of.LOSS,),
            reason="loss at {at} follows from the mean and the peakedness of arrivals",
            notes={
                "": (
                    "compared with exact GI/M/c/c with 1 to 30 servers, predicted loss above 1 % "
                    "was 0.7–1.8× for a cv of 1.4 to 5, and up to 2.2× below a cv of 1; "
                    "throughput was 0.84–1.13×"
                )
            },
            errors={"rate": 0.2, "load": 0.2},
            sources=("Fredericks 1980",),
            fails=("poisson",),
            instead=("erlang-b",),
        ),
        "batch-at-a-room": Method(
            name="batch arrivals at a finite queue treated as independent",
            of=(*TIMES, Of.LOSS),
            reason="copies sent together are modeled as independent arrivals at {at}",
            notes={"room": "in a batch, they find the queue full more often"},
            fails=("single",),
            instead=("blocking", "erlang-b"),
        ),
        "finite-room-two-moments": Method(
            name="M/G/c/K by MacGregor Smith: places scaled by two moments",
            of=(*TIMES, Of.LOSS),
            reason="the finite queue of {at} is approximated by two moments of its service times",
            notes=dict.fromkeys(
                ("wait", "loss"),
                "compared with exact Markov chains with gamma-distributed service, predicted loss "
                "above 0.01 % was 0.93–1.8× up to a cv of 1 and as low as 0.56× at a cv of 3; "
                "queueing delay was 0.65–1.36×",
            ),
            errors={"wait": 0.36, "loss": 0.8},
            sources=("MacGregor Smith 2003",),
            fails=("exponential-service", "equal-service"),
            instead=("m-m-c-k",),
        ),
        "finite-room-arrivals": Method(
            name="GI/G/c/K by two moments",
            of=(*TIMES, Of.LOSS),
            reason="arrivals at the finite queue of {at} are approximated by two moments",
            notes={
                "": (
                    "with one to five servers and a cv up to 0.5, predicted loss was 0.8–2× the "
                    "simulated value (up to 25× for losses below 5 %); at a cv of 2 and 3, it was "
                    "as low as 0.1×"
                )
            },
            sources=("MacGregor Smith 2003",),
            fails=("poisson",),
            instead=("m-m-c-k",),
        ),
        "finite-room-percentiles": Method(
            name="M/G/c/K percentiles: queueing delay of M/M/c/K and gamma-distributed service",
            of=TAIL,
            reason=(
                "queueing delay of the finite queue of {at} is assumed to vary as in M/M/c/K, and "
                "service times to be gamma distributed"
            ),
            fails=("exponential-service", "equal-service"),
            instead=("m-m-c-k",),
        ),
        "finite-room-as-many": Method(
            name="GI/M/c/K percentiles: M/M/c/K with the same mean queueing delay",
            of=TAIL,
            reason=(
                "percentiles of the finite queue of {at} are those of Poisson arrivals with the "
                "same mean queueing delay: within {error:%}"
            ),
            error=0.03,
            measured="exact Markov chains with hyperexponential interarrival times",
            fails=("poisson",),
            instead=("m-m-c-k",),
        ),
        "finite-room-fixed-service": Method(
            name="M/D/c/K percentiles: queueing delay of M/M/c/K, scaled by its mean",
            of=TAIL,
            reason=(
                "percentiles of the finite queue of {at} are those of M/M/c/K, scaled to the mean "
                "queueing delay of fixed service times: within {error:%} up to p99"
            ),
            error=0.2,
            sources=("MacGregor Smith 2003",),
            fails=("exponential-service",),
            instead=("m-m-c-k",),
        ),
        "exponential-service-times": Method(
            name="service times treated as exponential",
            of=TAIL,
            reason="service times at {at} are assumed to be exponential",
            fails=("exponential-service",),
        ),
    }
)
