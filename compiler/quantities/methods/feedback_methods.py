"""Methods of items that come back to a queue: at once, after a time, or as if at random."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import TAIL, TIMES, Method, Of, Rows

OF_FEEDBACK: Rows = MappingProxyType(
    {
        "returns-as-poisson": Method(
            name="returns to a queue treated as a Poisson process",
            of=TIMES,
            reason="returns to {at} are modeled as arrivals at random times",
            notes={
                "": (
                    "with 2 to 16 cores and up to four visits, predicted mean latencies were "
                    "0.72–1.52× the simulated values if service times differ by a factor of up to "
                    "4 (up to 5.5× beyond)"
                )
            },
            up_to={"": ((4, 0.6),)},
            measured="`python laboratory/questions/feedback_servers_simulation.py 60 --compare`",
            fails=("poisson",),
        ),
        "unlike-returns": Method(
            name="repeated returns with unequal services, treated as a Poisson process",
            of=TIMES,
            reason="repeated returns to {at} with unequal services are modeled as random arrivals",
            notes={
                "": (
                    "for five calls of which 5 % took ten times as long, predicted means were "
                    "1.26–1.73× the simulated values with one core, and up to 1.47× with two"
                )
            },
            fails=("poisson",),
        ),
        "feedback-queue": Method(
            name="M/G/1 queue with feedback, by the number of items in each pass",
            of=(Of.MEAN,),
            reason=(
                "items return to {at} right after their service: the wait in each pass follows "
                "from the number of items in each, with mean latencies within {error:%}"
            ),
            error=0.03,
            sources=("Takács 1963",),
            fails=("poisson",),
            instead=("pollaczek-khinchine",),
        ),
        "feedback-after-a-time": Method(
            name="M/G/1 queue with delayed feedback, between feedback at once and random arrivals",
            of=(Of.MEAN,),
            reason=(
                "items return to {at} after a time: the waiting time is interpolated between "
                "immediate returns and random arrivals"
            ),
            notes={
                "": ("predicted mean latencies of one queue were 0.93–1.07× the simulated values")
            },
            error=0.15,
            sources=("Takács 1963",),
            fails=("poisson",),
            instead=("pollaczek-khinchine",),
        ),
        "feedback-percentiles": Method(
            name="M/G/1 queue with feedback, percentiles of random arrivals scaled by the mean",
            of=TAIL,
            reason="percentiles at {at} are those of random arrivals, scaled by the mean delay",
            notes={
                "": (
                    "predicted percentiles of two to eight visits to one queue were 0.75–1.55× the "
                    "simulated values, where service times differ by a factor of up to 20; for "
                    "five visits of which 1 % take 100 times as long, medians were up to 3.2× and "
                    "99th percentiles down to 0.64× the simulated values"
                )
            },
            up_to={"": ((5, 0.35), (20, 0.6))},
            sources=("Takács 1963",),
            fails=("poisson",),
            instead=("m-m-1-sojourn", "m-d-1-wait"),
        ),
    }
)
