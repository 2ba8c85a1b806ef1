"""Methods of answers that are searched for, or sampled."""

from __future__ import annotations

from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import LOWER, UPPER, Method, Of, Rows

OF_ANSWERS: Rows = MappingProxyType(
    {
        "class-shares": Method(
            name="bisection over the shares of three or more classes",
            of=(Of.ANSWER,),
            reason="the shares of three or more classes are found by search, to 0.0001 %",
        ),
        "saturation-unproved": Method(
            name="interval bounds of a utilization over the range",
            of=(Of.ANSWER,),
            reason=(
                "saturation of {at} is ruled out up to {population:plain}, but undecided above"
            ),
        ),
        "failures-at-worst-times": Method(
            name="failures at the worst times of profiles",
            of=(Of.ANSWER,),
            kind=LOWER,
            reason="a failure counts all day if requirements are not met at one time of it",
        ),
        "smaller-numbers-untried": Method(
            name="search that skips smaller numbers of machines",
            of=(Of.ANSWER,),
            kind=UPPER,
            reason="not all smaller numbers of machines were tried",
        ),
        "lower-populations-unchecked": Method(
            name="lower populations checked at the ends of an interval of values",
            of=(Of.ANSWER,),
            kind=UPPER,
            reason=(
                "populations below {population:,} were checked only at the ends of this interval: "
                "inside it {criterion:plain} may fail"
            ),
        ),
        "bounds-undecided": Method(
            name="inconclusive interval bounds",
            of=(Of.ANSWER,),
            reason=(
                "interval bounds on {at}{mode:plain} are inconclusive for {place:plain}; use fewer "
                "rounding functions, or a narrower range"
            ),
        ),
        "values-tried": Method(
            name="values tried where interval bounds are inconclusive",
            of=(Of.ANSWER,),
            reason=(
                "interval bounds on {at}{mode:plain} are inconclusive for parts of {place:plain}: "
                "{values:,} values were tried there"
            ),
        ),
        "values-set": Method(
            name="values solved individually",
            of=(Of.ANSWER,),
            reason=(
                "the formulas of the spec change with {at:plain}: {values:,} values were set and "
                "solved individually"
            ),
        ),
        "rows-by-themselves": Method(
            name="rows of a matrix solved individually",
            of=(Of.ANSWER,),
            reason="rows that are solved individually are not analyzed in advance",
        ),
        "requirement-by-samples": Method(
            name="requirement with a confidence level, from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="{at:plain}",
            notes={
                "": "from {samples:,} samples",
                "approximate": "from {samples:,} samples, each within {most:.2g} %",
                "row": "from samples",
            },
        ),
        "probabilities-by-samples": Method(
            name="probabilities from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="probabilities are computed from samples",
        ),
        "quantiles-by-samples": Method(
            name="quantiles of the capacity from samples of uncertain inputs",
            of=(Of.ANSWER,),
            reason="quantiles of the capacity are computed from samples",
        ),
    }
)
