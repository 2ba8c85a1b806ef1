"""Methods of response times: several stages, parallel calls, cycles, and jitter."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.methods.method_row import CLOSED, LOWER, TAIL, UPPER, Method, Of, Rows

OF_RESPONSES: Rows = MappingProxyType(
    {
        # -- times of several stages ----------------------------------------------------------
        "no-queueing-delay": Method(
            name="sum of service times, without queueing delay at some stations",
            of=CLOSED,
            kind=LOWER,
            reason="queueing delay at {at} is excluded",
            fails=("queueing-modeled",),
        ),
        "blocking-time": Method(
            name="blocking time at a saturated station replaced by its mean",
            of=TAIL,
            reason="blocking time at saturated {at} is modeled by its mean",
            fails=("queueing-modeled",),
        ),
        "sum-of-percentiles": Method(
            name="sum of percentiles (Bonferroni's inequality)",
            of=TAIL,
            kind=UPPER,
            reason="the percentiles of {count:#queue} are added",
            sources=("Bonferroni 1936",),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "sum-of-percentiles-and-jitter": Method(
            name="sum of percentiles of queueing delay and jitter (Bonferroni's inequality)",
            of=TAIL,
            kind=UPPER,
            reason="the percentiles of {count:#queue} and of jitter are added",
            sources=("Bonferroni 1936",),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "nearer-percentile": Method(
            name="sum of percentiles, or a distribution of two moments if that is smaller",
            of=TAIL,
            reason="the smaller of this sum and a two-moment fit is used",
        ),
        "later-by-two-moments": Method(
            name="fraction beyond a time, from a distribution of two moments",
            of=TAIL,
            reason=(
                "the fraction of items beyond a time is that of a distribution with the same mean "
                "and an estimated variance"
            ),
        ),
        "independent-waits": Method(
            name="waiting times treated as independent",
            of=TAIL,
            reason="waiting times at {at} are treated as independent",
            notes={
                "": (
                    "in networks in which items can overtake each other, predicted percentiles "
                    "were 0.9–1.05× the simulated values"
                )
            },
            error=0.12,
            sources=("Walrand and Varaiya 1980", "Burke 1969", "Reich 1957"),
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "repeat-visits": Method(
            name="repeat visits to an open queue with the same queue length",
            of=TAIL,
            reason="repeat visits to {at} are assumed to see the same queue length",
            notes={
                "": "predicted percentiles were 0.93–1.08× the simulated values, with ten "
                "visits 0.89–1.17×"
            },
            error=0.18,
            fails=("independent-stages",),
            instead=("path-of-stages",),
        ),
        "calls-allotted": Method(
            name="percentile with optional calls (Bonferroni's inequality)",
            of=TAIL,
            kind=UPPER,
            reason="the probability of a late item is divided among the optional calls to {at}",
            sources=("Bonferroni 1936",),
            fails=("one-path",),
        ),
        "calls-by-chance": Method(
            name="several optional calls treated as independent",
            of=TAIL,
            reason="optional calls to {at} are treated as independent",
            fails=("at-most-one-chance",),
        ),
        "slowest-kind": Method(
            name="percentile of the slowest class",
            of=TAIL,
            kind=UPPER,
            reason="the percentile of the slowest class of users or items is used",
            fails=("one-path",),
        ),
        # -- parallel calls -------------------------------------------------------------------
        "largest-mean": Method(
            name="fork and join: the largest of the means (Jensen's inequality)",
            of=(Of.MEAN,),
            kind=LOWER,
            reason=(
                "for parallel calls to {at}, the largest mean response time is used instead of the "
                "mean of the maximum"
            ),
        ),
        "parallel-estimated": Method(
            name="fork and join: maximum of independent gamma variables, moments estimated",
            of=(Of.MEAN,),
            reason=(
                "parallel calls to {at} are treated as independent and fitted to two moments, some "
                "of them estimated"
            ),
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-repeated": Method(
            name="fork and join: maximum of independent gamma variables, repeat visits independent",
            of=(Of.MEAN,),
            reason=(
                "parallel calls to {at}, and repeat visits to a queue, are treated as independent "
                "and fitted to two moments"
            ),
            notes={
                "": "predicted times were 0.92–1.16× the simulated values with two to twenty visits"
            },
            error=0.2,
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-independent": Method(
            name="fork and join: maximum of independent times (associated variables)",
            of=(Of.MEAN,),
            kind=UPPER,
            reason="parallel calls to {at} are treated as independent, though they start together",
            notes={"": "up to 10 % too long for two calls, 30 % for eight"},
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "parallel-bursty": Method(
            name="fork and join of equal queues with bursty arrivals",
            of=(Of.MEAN,),
            reason=(
                "the predicted response time of the slowest of several identical queues with "
                "bursty arrivals was 0.96–1.03× the simulated value, provided that the mean "
                "queueing delay "
                "at one queue is accurate"
            ),
        ),
        "nelson-tantawi": Method(
            name="fork and join of equal M/M/1 queues by Nelson and Tantawi",
            of=(Of.MEAN,),
            reason=(
                "the response time of the slowest of several identical queues uses the "
                "Nelson-Tantawi approximation (1988)"
            ),
            notes={"two": "exact for Poisson arrivals", "": "within {error:%}"},
            error=0.05,
            sources=("Nelson and Tantawi 1988", "Flatto and Hahn 1984"),
        ),
        "fork-independent": Method(
            name="fork and join: maximum of independent times",
            of=(Of.MEAN, *TAIL),
            kind=CertaintyKind.EXACT,
            sources=("David and Nagaraja 2003",),
        ),
        "fork-associated": Method(
            name="fork and join: maximum of independent times, from their distributions",
            of=(Of.MEAN, *TAIL),
            kind=UPPER,
            reason="parallel calls to {at} are treated as independent, though they start together",
            notes={
                "": (
                    "for two calls to equal M/M/1 queues, the median was 1.04–1.12× the simulated "
                    "value at utilizations of 30–90 %, for eight 1.09–1.28×, p99 at most 1.02×"
                )
            },
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "fork-estimated": Method(
            name="fork and join: maximum of times treated as independent",
            of=(Of.MEAN, *TAIL),
            reason="parallel calls to {at} are treated as independent, though they start together",
            notes={"": "their times are not known to be associated"},
        ),
        "closed-forks": Method(
            name="percentiles of parallel calls in closed workloads, treated as independent",
            of=(Of.QUANTILE,),
            reason="parallel calls to {at} are treated as independent, though they start together",
            notes={
                "few": (
                    "for think times of 5 or 50 service times and up to three calls, the median "
                    "was 0.91–1.06× the simulated value, p99 1.00–1.35×; within {error:%}"
                )
            },
            errors={"few": 0.4},
        ),
        "forks-combined": Method(
            name="nested forks or forks in series, treated as independent",
            of=(Of.MEAN, *TAIL),
            reason="parallel calls to {at}, nested or in series, are treated as independent",
            notes={
                "few": (
                    "for M/M/1 queues and up to three calls each at utilizations of 30–90 %, the "
                    "mean was 1.03–1.13× the simulated value, the median 1.03–1.17×, p99 0.97–1.04×"
                )
            },
            errors={"few": 0.2},
            sources=("Baccelli, Makowski and Shwartz 1989",),
        ),
        "fork-grid": Method(
            name="forks on a grid of times: convolution quadrature and fast Fourier transforms",
            of=(Of.MEAN, *TAIL),
            reason="the distribution of parallel calls to {at} is computed on a grid of times",
            notes={"": "within {error:%} of sampled values for random forks, up to p99"},
            error=0.01,
            sources=("Lubich 1988",),
        ),
        "any-parallel-late": Method(
            name="percentile of parallel calls (Bonferroni's inequality)",
            of=TAIL,
            kind=UPPER,
            reason="the probabilities of late parallel calls are added",
            sources=("Bonferroni 1936",),
        ),
        # -- cycles of closed classes ---------------------------------------------------------
        "cycle-without-overtaking": Method(
            name="cycle time by its transform, without overtaking",
            of=TAIL,
            reason=(
                "items are assumed not to overtake each other at {at}: within {error:%} up to p99.9"
            ),
            error=0.04,
            sources=("Boxma, Kelly and Konheim 1984",),
        ),
        "cycle-by-moments": Method(
            name="cycle time of several classes by its moments",
            of=TAIL,
            reason=(
                "queueing delay per cycle at {at} is fitted to its moments: within {error:%} up to "
                "p99.9"
            ),
            error=0.16,
            sources=("Reiser and Lavenberg 1980",),
        ),
        "cycle-repeat-visits": Method(
            name="cycle time with the same queue length at repeat visits",
            of=TAIL,
            reason=(
                "repeat visits to {at} are assumed to see the same queue length: within {error:%}"
            ),
            errors={"one class": 0.16, "several classes": 0.2},
            sources=("Boxma, Kelly and Konheim 1984",),
        ),
        "cycle-sharing": Method(
            name="cycle time at processor sharing with a constant number of concurrent visits",
            of=TAIL,
            reason=(
                "the number of concurrent visits at {at} is assumed to stay constant during a "
                "visit: within {error:%}"
            ),
            errors={"one class": 0.12, "several classes": 0.2},
            sources=("Coffman, Muntz and Trotter 1970",),
        ),
        # -- jitter ---------------------------------------------------------------------------
        "no-delay-variance": Method(
            name="jitter without the variance of some queueing delays",
            of=(Of.JITTER,),
            kind=LOWER,
            reason="variance of queueing delay at {at} is excluded",
            notes={"": "its variance is unknown"},
        ),
        "no-call-variance": Method(
            name="jitter without the variance of optional calls",
            of=(Of.JITTER,),
            kind=LOWER,
            reason="variance from optional calls to {at} is excluded",
        ),
        "normal-jitter": Method(
            name="normal distribution with known variance (bounded by Cantelli's inequality)",
            of=TAIL,
            reason=(
                "jitter of {at} is assumed to be normal ({normal:.3g} standard deviations; other "
                "distributions reach up to {worst:.3g})"
            ),
            sources=("Cantelli 1928",),
        ),
    }
)
