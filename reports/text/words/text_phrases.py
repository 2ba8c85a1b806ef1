"""Phrases of `qps solve` and of every text; those that a page says, too, stand in `phrases.js`."""

from __future__ import annotations

from collections.abc import Mapping

TEXT_PHRASES: Mapping[str, str] = {
    "answer.closed_load": "Closed load",
    "answer.limited_by": " (limited by {of})",
    "answer.cost_places": "{total} at {at:,}, {per_user} per {each} ({places})",
    "answer.more_resources": "… {count} more with lower utilization",
    "answer.more_users": "More users",
    "answer.not_met": "not met",
    "answer.sensitivity_to": "Sensitivity to",
    "answer.utilization_at": "utilization at {at:,}",
    "bottleneck.closest": "Closest to its target",
    "bottleneck.first_to_exceed": "first to exceed its target: {resource}, above {where}",
    "bottleneck.first_to_saturate": "first to saturate: {resource}, above {where}",
    "bottleneck.has_most": "has the highest utilization",
    "bottleneck.highest_utilization": "Highest utilization",
    "bottleneck.is_at": "{resource} is {full} at {where}",
    "bottleneck.is_closest": "is closest to its target",
    "bottleneck.low": "{initially} at low populations",
    "bottleneck.more_changes": "{count} more changes",
    "bottleneck.none": "no resource saturates",
    "bottleneck.none_closed": "a closed workload cannot overload a resource",
    "bottleneck.none_closed_only": (
        "{resource} {has_most} (a closed workload cannot overload a resource)"
    ),
    "bottleneck.none_known": "no resource is known to saturate",
    "bottleneck.not_determined": "not determined",
    "bottleneck.start": "{resource} is {full} at {where}, the start of the range",
    "bottleneck.unknown_later": (
        "{heaviest} at the smallest population: {initially}; not determined for larger ones"
    ),
    "capacity.at_least": "at least {value}",
    "capacity.at_most": "at most {value}",
    "choice.moved_step": "{step} of {stream}: {before} -> {after}",
    "choice.called_step": "{step} of {stream}: {before} -> call of {after}",
    "choice.moved_call": "call for {step} of {stream}: {before} -> {after}",
    "choice.priority": "{resource}: {streams} first",
    "choice.preemption": "{resource}: {streams} first, preemptive",
    "choice.sharing": "{resource}: processor sharing",
    "choice.pacing": "{stream}: arrivals without bursts",
    "choice.other_hours": "{stream}: at {start} to {end} only",
    "choice.own_units": "{pool}: {some} of {many} for {stream} alone",
    "choice.limited_work": "{resource}: {stream} at most {most} at a time, for {other}",
    "choice.line": "line {number}: {text}",
    "choice.new_line": "before line {number}: {text}",
    "choice.removed_line": "line {number}: remove it",
    "changes.moves_load": " (moves load to {name}, {share} headroom)",
    "chart.tried": " (tried at the points of the axis)",
    "closed.balanced_job": "; balanced job bounds: {between}",
    "closed.bounds": " Asymptotic throughput bounds: {between}",
    "closed.every_mix": "At high concurrency, {full} for every mix of `{of}` and {others}.",
    "closed.from_to": "from {low} to {high}, {what}",
    "closed.knee": (
        "{levels} {rate}, with {where} at 100 % utilization. Queueing dominates above {jobs} "
        "in the system (the knee); the current population is {value}."
    ),
    "closed.levels": "Throughput levels off at",
    "closed.levels_off": " (levels off at {rate})",
    "closed.levels_without": "Without {names}, throughput would level off at",
    "closed.mix": (
        "At high concurrency, the bottleneck depends on the mix of {streams}. If the share "
        "of `{of}` is {names}. In this spec, the share is {share}."
    ),
    "closed.now": (
        "{stream} at {users}: throughput {rate}, response time {latency}, think time {think}."
    ),
    "closed.response_time": "{stream} {rate}{most}, response time {latency}",
    "closed.saturate_together": "{names} saturate together",
    "closed.unlimited": "No station limits its throughput.",
    "cost.and_unpriced": "; no price for {names}",
    "cost.unpriced": "no price for {names}",
    "course.always": "at all times",
    "course.alike": "{count} more like these",
    "course.at": "At {users}",
    "course.backlog": "Backlog",
    "course.day": "day",
    "course.endless": "unbounded",
    "course.grows": (
        "{resource}: more work arrives than can be done in a {cycle}; the backlog of each {cycle} "
        "is added to the next"
    ),
    "course.highest": "Utilization",
    "course.hours": "{many} hours",
    "course.load": "{resource} utilization {load}",
    "course.met": "Met",
    "course.minutes": "{many} minutes",
    "course.money": ", {needed} instead of {all}",
    "course.more": "{count} more, further from limits",
    "course.needed": (
        "{node}: {needed} of {hours} server-hours a {cycle} if the number of servers follows the "
        "load ({saved} less{money})"
    ),
    "course.no_load": "nothing is used",
    "course.on_day": "{span} on {day}",
    "course.peak": (
        "{resource}: builds up from {start}, {worst} of work at {at}, cleared at {cleared}"
    ),
    "course.quietest": "; lowest from {when} ({resource} {load})",
    "course.servers": "Autoscaling",
    "course.overloaded_queue": (
        "{resource}: the mean queueing delay reaches {wait} at {at} (M/M/c queue)"
    ),
    "course.slow": "Slow queues",
    "course.span": "{start} to {end}",
    "course.strip": "00:00 {bars} 24:00",
    "course.strip_of_a_week": "Monday {bars} Sunday",
    "course.transient": (
        "{resource}: the mean queueing delay reaches {wait} at {at}; it would be {steady} if the "
        "peak lasted (M/M/c queue)"
    ),
    "course.used": "{requirement} at {part} of its limit",
    "course.utilization": "Utilization",
    "course.week": "week",
    "course.worst": "Worst time",
    "course.worst_moment": "{when}: {why}",
    "elastic.above_that": "{by} above that",
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
    "elastic.up_to": " up to {users}",
    "availability": "Availability",
    "availability.always": "100 % at {users}",
    "availability.fact": ("{share} at {users}; requirements are not met for {time} ({parts})"),
    "availability.hours": "{number} hours/year",
    "availability.minutes": "{number} minutes/year",
    "availability.part": "{place}: {time}",
    "availability.seconds": "{number} seconds/year",
    "availability.together": "several failures at the same time",
    "forecast.before": "before {date}",
    "forecast.change_until": "until {date}",
    "forecast.confident": " at {sure} confidence",
    "forecast.earlier": "{months} month{s} earlier",
    "forecast.exceeded": (
        "{date}{interval}; in {then}, {users} are expected, above the capacity of {capacity} "
        "({limit})"
    ),
    "forecast.expected": "Expected {noun}",
    "forecast.holds": "{date}, the end of the calendar, with {users}",
    "forecast.interval": "{at} ({level} interval: {least} to {most})",
    "forecast.later": "{months} month{s} later",
    "forecast.likely_exceeded": (
        "{date}{interval}; in {then}, {users} are expected and the capacity is {capacity}: "
        "supported with a probability of {probability} ({limit})"
    ),
    "forecast.month": "Month",
    "forecast.most_demanding": "{month} (most demanding month until {until})",
    "forecast.never": (
        "not even {then}; {users} are expected, above the capacity of {capacity} ({limit})"
    ),
    "forecast.no": "no",
    "forecast.no_month": "no month",
    "forecast.or_later": "{date} or later",
    "forecast.probability": "Probability",
    "forecast.range": (
        "at least {date}{interval}; in {then}, {users} are expected, more than the range of "
        "`{name}`"
    ),
    "forecast.sampled": " in {sure} of samples",
    "forecast.supported": "Supported",
    "forecast.unlikely": (
        "not even {then}{at}: {users} are expected and the capacity is "
        "{capacity}: supported with a probability of {probability} ({limit})"
    ),
    "forecast.until": "Holds until",
    "forecast.yes": "yes",
    "headroom.rate_falls": "rate falls from {before} to {value}",
    "headroom.rises_by": "rises by {amount}",
    "headroom.unbounded": "becomes unbounded",
    "headroom.unused_here": " (unused here)",
    "limit.at_target": "utilization at its {share} {of}",
    "limit.other_parts": "other",
    "limit.breakdown": "{names} (mean latency)",
    "limit.cause": "Cause",
    "limit.closed": " (a closed workload cannot overload it)",
    "limit.in_samples": "`{name}` saturates first in {share}",
    "limit.mean_latency": "Mean latency",
    "limit.never_overloaded": " (never overloaded)",
    "limit.not_met": "not met at {users}",
    "limit.not_met_above": "not met at {further}",
    "limit.overloaded_above": "{of}: {value}, overloaded above {most}",
    "limit.share_of_samples": "; {names} of samples",
    "limit.target_exceeded": "{share} target exceeded",
    "limit.utilization_now": "utilization {value} at {users}{target}",
    "measure_next.fitted": "`{first}` and {count} more fitted inputs",
    "measure_next.halved": "{share}; halving this uncertainty gives a capacity of {halved}",
    "measure_next.inputs_alone": " without model error",
    "measure_next.share": "{who} ({share} of the variance in capacity)",
    "modes.limit": "{mode} limits capacity; capacity by mode: {names}",
    "moments.limit": "capacity is limited at {mode}; capacity by time: {names}",
    "moments.title": "Times",
    "nominal.none": "none supported, values at {users}",
    "resources.consumed_by": "Consumed by",
    "resources.each_of": "each of {value}",
    "resources.per_hour": "Per hour",
    "resources.per_month": "Per month",
    "screen.fixed_inputs": "Fixed inputs",
    "screen.full_details": "Full details: --all",
    "screen.more_measures": "{more} more measure{s}: --all",
    "screen.more_resources": "  {count} more resource{s} below {above} utilization",
    "screen.nominal_measures": "(with nominal inputs)",
    "screen.other_values": "Other values",
    "screen.treated_as_exact": (
        "{names} treated as exact: no row of `{table}` differs from the fit"
    ),
    "screen.verify": "To verify by simulation, run `qps simulate {file}`.",
    "sensitivity.are_ratings": "are ratings of machines",
    "sensitivity.capacity": "Effect of +1 % on capacity",
    "sensitivity.is_rating": "is the rating of the machine",
    "sensitivity.ratings": (
        "{names} {verb} that service demands were measured on: a higher rating scales those "
        "demands up. If the spec also uses that machine, its own speed is a separate input."
    ),
    "sensitivity.saturation": "Effect of +1 % on the saturation point of {resource}",
    "steady_state": "Steady state",
    "steady_state.autoscalers": "the autoscaler of {nodes}",
    "steady_state.retries": "timeouts and retries of {streams}",
    "steady_state.without": "without {what}, which act in `qps incident` alone",
    "term.accepted_failure": "accepted failure",
    "term.and_more": " and {count:,} more",
    "term.changed_files": "the changed files",
    "term.defined": "Defined at",
    "term.fit_error": "Fit error",
    "term.internal_error": "internal error of qps: {name}: {error}",
    "term.internal_error_qps": "internal error of qps",
    "term.is_new": "is new",
    "term.measure_next": "Measure next",
    "term.next_limit": "Next limit",
    "term.not_compared": "not compared",
    "term.not_used": "not used",
    "term.page": "the page",
    "term.running_cost": "running cost",
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
        "{names} {are} treated as exact: no row of `{table}` differs from the fit"
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
    "uncertainty.one_input": "uncertain input",
    "uncertainty.only_forecast": "of the forecast only; it does not affect capacity",
    "uncertainty.several_inputs": "uncertain inputs",
    "uncertainty.surrogate": (
        "Approximation: {points} samples are solved in full; for the others, a surrogate "
        "model predicts where {names} fail (cross-validation error up to {error})."
    ),
    "uncertainty.unsolved": (
        "{share} of the samples could not be solved and are excluded: each {alone}."
    ),
    "uncertainty.variance": "Share of variance",
    "uncertainty.with_interactions": "With interactions",
}
