"""Phrases of `qps explain`: numbers, figures, itineraries and networks."""

from __future__ import annotations

from collections.abc import Mapping

EXPLANATION_PHRASES: Mapping[str, str] = {
    "explain.all_variance": "All of the variance comes from {named}.",
    "explain.assumptions_met": "Assumptions met",
    "explain.at_target": "At target",
    "explain.between": "between {population} = {least} and {most}",
    "explain.extremes": "; a few extreme samples dominate the variance of the value itself",
    "explain.for_any": "for any {name}",
    "explain.formulas": "formulas and methods",
    "explain.formulas_and_inputs": "formulas, methods and {inputs}",
    "explain.from_interactions": "; {share} from interactions",
    "explain.groups_at": "groups at {at}",
    "explain.infinite": "The value is infinite in {share} of the samples.",
    "explain.linear": (
        "A linear approximation gives {between}. The value is not linear over the range of "
        "the inputs, so use the sampled interval."
    ),
    "explain.long_formula": "a formula of {count:,} operations",
    "explain.more": "For {others}, use --all.",
    "explain.no_mode": "none (choose one with `--set mode=NAME`: {names})",
    "explain.no_upper_bound": "not below {population} = {least} (no upper bound is known)",
    "explain.not_applicable": "not applicable",
    "explain.not_met": "Assumptions not met",
    "explain.not_reached": "not reached",
    "explain.number_of_groups": "number of groups",
    "explain.other_modes": " (other modes, with `--set mode=NAME`: {names})",
    "explain.other_parts": "{count} other parts",
    "explain.rank_variance": "Variance of its rank among the samples",
    "explain.reaches_target": "reaches its target",
    "explain.rule_level": "Level in a project file: {setting}",
    "explain.run_for_formula": "for its formula, run `qps explain … {name}`",
    "explain.saturates_at_full": "{what} (saturates at 100 %)",
    "explain.shortened": "`…` marks a shortened formula; `--format json` prints it in full.",
    "explain.surrogate": (
        "Approximation: {points} samples are solved in full; for the others, a surrogate "
        "model predicts the value (cross-validation error up to {share})."
    ),
    "explain.target_set_by": "{what} (target {share}, set by `{formula}`)",
    "explain.time": "{time} (for another time, set the profiles)",
    "explain.timeline": "Timeline of an average request",
    "explain.to_infinity": "{least} to infinity",
    "explain.undefined": "The value is undefined in {share} of the samples.",
    "explain.with_values": "with values",
    "explain.worst_time": "the worst time at this population",
    "figure.lead_together": "lead together",
    "figure.one_up_to": "{lines} up to {at}",
    "figure.several_up_to": "{names} {verb} up to {at}",
    "figure.unknown_lines": "unknown lines",
    "itinerary.merge": "merge {count} flows ({names})",
    "itinerary.on_thread": " on thread {thread}",
    "itinerary.one_of": "one of {{{names}}}",
    "itinerary.per_receivers": " per {receivers} receivers",
    "itinerary.resize_share": "resize to {share}",
    "itinerary.resize_size": "resize to {size}{value}",
    "network.closed_population": "closed, population {count}",
    "network.held_by": ", {share} held by {by}",
    "network.long_formula": (
        "f({name}) is a longer formula: `--at` evaluates it, `--format json` prints it."
    ),
    "network.no_queueing": "queueing not modeled",
    "network.not_modeled": "not modeled",
    "network.one_per_pool": ", one per pool",
    "network.one_per_source": ", one per source",
    "network.playout_buffer": "playout buffer {text}",
    "network.queueing_network": "Queueing network",
    "network.recover": "recover {share} of losses",
    "network.renewal_cv": "renewal, cv {count}",
    "network.size": "Servers, rate or size",
    "network.unmodeled_queue": ", queueing not modeled",
}
