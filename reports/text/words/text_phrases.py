"""The phrases of texts alone, by room: what a page says as well stands in `phrases.js`."""

from __future__ import annotations

from collections.abc import Mapping

TEXT_PHRASES: Mapping[str, str] = {
    "bottleneck.closest": "Closest to its target",
    "bottleneck.first_to_exceed": "first to exceed its target: {resource}, above {where}",
    "bottleneck.first_to_saturate": "first to saturate: {resource}, above {where}",
    "bottleneck.has_most": "has the highest utilization",
    "bottleneck.is_closest": "is closest to its target",
    "bottleneck.low": "{initially} at low populations",
    "bottleneck.none": "no resource saturates",
    "bottleneck.none_closed": "a closed workload cannot overload a resource",
    "bottleneck.none_closed_only": (
        "{resource} {has_most} (a closed workload cannot overload a resource)"
    ),
    "bottleneck.none_known": "no resource is known to saturate",
    "bottleneck.start": "{resource} is {full} at {where}, the start of the range",
    "bottleneck.unknown_later": (
        "{heaviest} at the smallest population: {initially}; not determined for larger ones"
    ),
    "changes.moves_load": " (moves load to {name}, {share} headroom)",
    "chart.tried": " (tried at the points of the axis)",
    "claims.calibrated": "after calibration on other data",
    "claims.comparison": "{shown} for comparison only{part}",
    "claims.targets": "{targets} (not counted as evidence)",
    "closed.bounds": " Asymptotic throughput bounds: {between}",
    "closed.every_mix": "At high concurrency, {full} for every mix of `{of}` and {others}.",
    "closed.knee": (
        "{levels} {rate}, with {where} at 100 % utilization. Queueing dominates above {jobs} "
        "in the system (the knee); the current population is {value}."
    ),
    "closed.levels": "Throughput levels off at",
    "closed.levels_off": " (levels off at {rate})",
    "closed.levels_without": "Without {names}, throughput would level off at",
    "closed.mix": (
        "At high concurrency, the bottleneck depends on the mix of {streams}. If the share of "
        "`{of}` is {names}. In this spec, the share is {share}."
    ),
    "closed.now": (
        "{stream} at {users}: throughput {rate}, response time {latency}, think time {think}."
    ),
    "closed.unlimited": "No station limits its throughput.",
    "cost.and_unpriced": "; no price for {names}",
    "cost.unpriced": "no price for {names}",
    "coverage.calibrated": "inputs were calibrated on these rows",
    "coverage.chance": "{verb} (p {share} for the count, p {share2} for the largest error)",
    "coverage.more": "{values} more {verb} on no uncertain input",
    "coverage.none": "no prediction interval for {values}: no uncertain input affects {them}",
    "coverage.surrogate": "intervals from a surrogate model, up to {error} off sampled values",
    "coverage.within": "{observation}: {inside} of {count} within the {share} prediction interval",
    "diff.at_limit": "{name} at its limit",
    "diff.attributed": "Attributed: mean over {of_orders}, which adds up to the total",
    "diff.cumulative": "Cumulative: changes applied in this order",
    "diff.effect_within_error": "{effect}, within the model error",
    "diff.excluded": "; {share} of samples excluded: {reason}",
    "diff.isolation": "Effects in {of}. In isolation: this change alone",
    "diff.moved": "Capacity {verb} from {was} to {users} ({moved_by})",
    "diff.no_capacity": " A `?` means that an intermediate spec has no capacity.",
    "diff.no_change": "no change in any of {samples} samples of the uncertain inputs",
    "diff.no_limit": "none in the range",
    "diff.no_result": "Claims without a result: {unanswered}{also}.",
    "diff.nothing": "No input or formula that affects capacity has changed.",
    "diff.other_changes": "part of other model changes",
    "diff.shapley": "all orders (Shapley)",
    "diff.uncertainty": (
        "the change {verdict} the uncertainty of the inputs: capacity {rises} in {share} of "
        "{samples} samples; {sure} interval for the change: {least} to {most} {of}; for the "
        "capacity: {ends} (was {was}){left}"
    ),
    "diff.uncertainty_only": "affects uncertainty only",
    "diff.unchanged": "Capacity unchanged at {users}",
    "diff.unchanged_within_error": "Capacity unchanged within the model error ({was}, now {users})",
    "diff.within_error": "unchanged within the model error",
    "drift.batching": (
        "utilization is {where}: demand per item often falls at high utilization (batching)"
    ),
    "drift.candidates": (
        "{names} would explain it, in order of likelihood; to separate them, measure runs "
        "whose rates vary independently"
    ),
    "drift.demand": (
        "{what} is {by} {verb} than in the spec for {of}{relative}, {share} of utilization "
        "({chance})"
    ),
    "drift.demand_per": "service demand per {word}",
    "drift.detectable": "a change of ±{share} would have been detected",
    "drift.detected": (
        "drift detected: at the rates of these runs, utilization is {level} than the spec "
        "predicts ({chance}).{describe}"
    ),
    "drift.latest": "{latest} at the latest, possibly before these runs",
    "drift.no_time": "unknown: the runs have no column `time` or `day`",
    "drift.none": "no drift detected ({chance}); {would}.",
    "drift.one": "one changed service demand would explain it: {change}; others may have changed",
    "drift.several": "several service demands changed; these runs cannot separate them",
    "drift.since": "{at} (95 % confidence interval {earliest} to {latest})",
    "drift.tested": " Tested: the {compared_rows} rows since {moment}.",
    "drift.title": "Drift of the service demands on {resource}",
    "drift.utilizations": "{runs} in these runs, {stated} where the service demands were measured",
    "drift.within_tolerance": (
        "no drift detected: at the rates of these runs, utilization is {level} than the spec "
        "predicts, within the tolerance of {share} ({chance}); {would}."
    ),
    "elastic.falls": "; it falls to its minimum of {value} at {people} (limited by {resource})",
    "elastic.limited": "{name} is {value} at {users}, limited by {limited_by}",
    "elastic.maximum": "{name} stays at its maximum of {value} at every population.",
    "elastic.maximum_then_limited": (
        "{name} is {value} at {users}: its maximum of {maximum} up to {most}, then limited "
        "by {limited_by}"
    ),
    "elastic.minimum": (
        "{name} stays at its minimum of {value} at every population: {resource} is saturated."
    ),
    "elastic.unknown_resource": "an unknown resource",
    "explain.all_variance": "All of the variance comes from {named}.",
    "explain.extremes": "; a few extreme samples dominate the variance of the value itself",
    "explain.formulas": "formulas and methods",
    "explain.formulas_and_inputs": "formulas, methods and {inputs}",
    "explain.infinite": "The value is infinite in {share} of the samples.",
    "explain.linear": (
        "A linear approximation gives {between}. The value is not linear over the range of "
        "the inputs, so use the sampled interval."
    ),
    "explain.more": "For {others}, use --all.",
    "explain.no_mode": "none (choose one with `--set mode=NAME`: {names})",
    "explain.not_met": "Assumptions not met",
    "explain.other_modes": " (other modes, with `--set mode=NAME`: {names})",
    "explain.rank_variance": "Variance of its rank among the samples",
    "explain.surrogate": (
        "Approximation: {points} samples are solved in full; for the others, a surrogate "
        "model predicts the value (cross-validation error up to {share})."
    ),
    "explain.undefined": "The value is undefined in {share} of the samples.",
    "history.none": "none at any of these revisions",
    "history.older": "; older revisions not shown",
    "history.only": "the only result",
    "history.title": "Capacity over the Git history",
    "inverse.all": "every value of {name} supports {users} ({whole}).",
    "inverse.at_or_beyond": "at or {side} that",
    "inverse.at_value": "at that value",
    "inverse.conservative": "Conservative: some value may be sufficient",
    "inverse.every_mode": "in every mode, ",
    "inverse.full_range": "its full range",
    "inverse.none": "no value of {name} supports {users}",
    "inverse.not_finite": "has no finite value",
    "inverse.searched_range": "a millionth to a million times the current value",
    "inverse.smallest_fails": ": every value fails a requirement; with the smallest, {reasons}",
    "inverse.throughout": ": {reasons} for every value",
    "inverse.unknown": "it is unknown whether any value of {name} supports {users}",
    "inverse.unused": "{value} is currently not used.",
    "limit.at_target": "{name}: utilization at its {share} {of}",
    "limit.breakdown": "breakdown of the mean latency: {names}",
    "limit.closed": " (a closed workload cannot overload it)",
    "limit.in_samples": "`{name}` saturates first in {share}",
    "limit.not_met": "{name}: not met at {users}",
    "limit.not_met_above": "{name}: not met at {further}",
    "matrix.error": "an internal error",
    "matrix.from_start": "from the start",
    "matrix.hidden": "Columns not shown: {names}; write all of them with `-o FILE`.",
    "matrix.individually": "{count} of {size} {verb} solved individually, which takes longer",
    "matrix.more_rows": "{left} more {rows}: write all of them with `-o FILE`.",
    "matrix.no_capacity": "; {none_supported} without capacity, see `reason`",
    "matrix.no_result": "{count} without a result after {errors} of qps, see `reason`",
    "matrix.to_answer": " to the answer",
    "matrix.unavailable": "Not available in any row: {names}; `qps solve` states the reason.",
    "measure_next.fitted": "`{first}` and {count} more fitted inputs",
    "measure_next.halved": "{share}; halving this uncertainty gives a capacity of {halved}",
    "measure_next.inputs_alone": " without model error",
    "measure_next.share": "{who} ({share} of the variance in capacity)",
    "modes.limit": "{mode} limits capacity; capacity by mode: {names}",
    "network.long_formula": (
        "f({name}) is a longer formula: `--at` evaluates it, `--format json` prints it."
    ),
    "network.no_queueing": "queueing not modeled",
    "network.recover": "recover {share} of losses",
    "network.size": "Servers, rate or size",
    "network.unmodeled_queue": ", queueing not modeled",
    "nominal.none": "none supported, values at {users}",
    "sensitivity.are_ratings": "are ratings of machines",
    "sensitivity.capacity": "Effect of +1 % on capacity",
    "sensitivity.is_rating": "is the rating of the machine",
    "sensitivity.ratings": (
        "{names} {verb} that service demands were measured on: a higher rating scales those "
        "demands up. If the spec also uses that machine, its own speed is a separate input."
    ),
    "sensitivity.saturation": "Effect of +1 % on the saturation point of {resource}",
    "simulation.all_agree": "all {agreeing} predictions agree",
    "simulation.all_pass": "all requirements pass",
    "simulation.differs": "differs, model error unknown",
    "simulation.fails": "is predicted to pass but fails in simulation",
    "simulation.imprecise": (
        "Confidence intervals are wider than ±{share} after {value} s; raise `--time-limit`."
    ),
    "simulation.inconclusive": (
        "inconclusive: the simulation did not reach steady state within {value} s; raise "
        "`--time-limit`"
    ),
    "simulation.limit_inside": (
        "its limit of {limit} is inside the simulated 95 % confidence interval ({low} to {high})"
    ),
    "simulation.more_resources": (
        "{count} more resources, with utilization up to {most}, agree; `--format json` lists them."
    ),
    "simulation.no_interval": (
        "the simulated value has no confidence interval to compare with the limit of {limit}"
    ),
    "simulation.passes": "is predicted to fail but passes in simulation",
    "simulation.precise": (
        "For means and utilization, the 95 % confidence intervals are no wider than ±{share}."
    ),
    "simulation.replications": (
        "{runs} replications of {length}{warm}; seed {seed}. Items measured: {names}."
    ),
    "simulation.some_agree": "{agreeing} of {count} predictions agree",
    "simulation.too_few": "too few items",
    "simulation.warm_up": ", first {cut} discarded as warm-up",
    "sizing.and_links": " and more capacity for {names}",
    "sizing.even_with": "Even with {times} instead of more servers",
    "sizing.exact_cores": "Cores before rounding up: {names}.",
    "sizing.fewer": "; fewer may be enough",
    "sizing.fix_of": "the fix that enlarges `{resources}`",
    "sizing.fixes": "the list of fixes",
    "sizing.meet_targets": "only meet their utilization targets",
    "sizing.meets_target": "only meets its utilization target",
    "sizing.never_enough": "not enough at any size",
    "sizing.no_change": "no change needed",
    "sizing.not_enough_at": "not enough at {most}× today",
    "sizing.not_supported": "{users} {are} not supported: even with {times}",
    "sizing.raise": "to fix this, raise {names}",
    "sizing.reasons": "{what} ({count} reasons: --format json)",
    "sizing.server_count": "the number of servers",
    "sizing.servers_not_enough": "up to {up_to} times as many {tried} servers are not enough",
    "sizing.several": "several resources need more capacity",
    "sizing.size_of": "the required size of `{resource}`",
    "sizing.smaller_fails": "{users} {are} supported {what}, but a smaller population is not.",
    "sizing.unknown_fix": "it is unknown whether more capacity for one resource is enough",
    "sizing.with_more": "with more capacity for {names}",
    "uncertainty.assumption": (
        "Assumption: in every sample, once {some} {does} so at every larger population. This "
        "is proven for the nominal inputs only."
    ),
    "uncertainty.bottleneck": "Probability of being the bottleneck: {named}.",
    "uncertainty.confidence": (
        "confidence needs samples, not one value of each input: {some} {are} not tested"
    ),
    "uncertainty.evaluates": (
        "{first}{rest}; `qps solve --confidence` evaluates {verb} uncertainty."
    ),
    "uncertainty.exact": (
        "{names} {are} treated as exact: `{table}` has no more rows than fitted numbers, too "
        "few to estimate a variance."
    ),
    "uncertainty.exceed": "exceed their limits, they do",
    "uncertainty.exceeds": "exceeds its limit, it does",
    "uncertainty.halved": "{noun} if uncertainty is halved",
    "uncertainty.impossible": "{share} of the samples are impossible and excluded: {why}.",
    "uncertainty.linear": (
        "Uncertainty: a linear approximation gives {rounded_ends}. Capacity is not linear "
        "over the range of the inputs, so use the sampled interval."
    ),
    "uncertainty.met": "Probability that each limit is met at {users}: {named}.",
    "uncertainty.nominal_values": "uses the nominal {which} of the {inputs} {named}",
    "uncertainty.none_at_all": "none at all",
    "uncertainty.surrogate": (
        "Approximation: {points} samples are solved in full; for the others, a surrogate "
        "model predicts where {names} fail (cross-validation error up to {error})."
    ),
    "uncertainty.unsolved": (
        "{share} of the samples could not be solved and are excluded: each {alone}."
    ),
    "uncertainty.variance": "Share of variance",
}
