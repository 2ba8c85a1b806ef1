"""Phrases of claims, simulations, measurements, fits and traces."""

from __future__ import annotations

from collections.abc import Mapping

EVIDENCE_PHRASES: Mapping[str, str] = {
    "claims.all_claims": "All claims ({count:,})",
    "claims.arithmetic_check": "arithmetic check",
    "claims.calibrated": "after calibration on other data",
    "claims.calibration_target": "calibration target",
    "claims.claims_fail": "claims that fail",
    "claims.comparison": "{shown} for comparison only{part}",
    "claims.count_not_simulated": "{count:,} not simulated",
    "claims.expected_predicted": (
        "expected {claimed}{allowed}, predicted {predicted}{difference}{stale}"
    ),
    "claims.known_miss": "known miss",
    "claims.known_misses": "known misses",
    "claims.markdown_title": "### {mark} qps test: {summary}\n",
    "claims.more_not_shown": "\n{count:,} more {what} not shown: run `qps test` for all\n",
    "claims.new_claim": "{after} (new claim)",
    "claims.newly_failing": "Newly failing",
    "claims.newly_passing": "Newly passing",
    "claims.no_claim": "No claim",
    "claims.no_spec_reads": "no spec below this folder with claims reads {which}",
    "claims.not_judged": "not judged",
    "claims.not_simulated": "not simulated",
    "claims.not_tested": "Not tested",
    "claims.not_tested_list": "\nNot tested:\n",
    "claims.other_check": "other check",
    "claims.other_claims": "Other claims",
    "claims.published_value": "published value",
    "claims.some_failed": "{failed:,} of {counted} failed",
    "claims.stale": "passes although it is marked `missed`: remove `missed`",
    "claims.targets": "{targets} (not counted as evidence)",
    "claims.these_files": "these files",
    "claims.too_few_items": "too few items simulated",
    "claims.with_errors": "{count:,} {which} with errors",
    "claims.without_calibration": " without calibration",
    "claims.without_claim": "{counted} without a claim",
    "claims.without_result": "{count:,} {which} without a result",
    "coverage.calibrated": "inputs were calibrated on these rows",
    "coverage.chance": "{verb} (p {share} for the count, p {share2} for the largest error)",
    "coverage.consistent": "consistent with chance",
    "coverage.more": "{values} more {verb} on no uncertain input",
    "coverage.none": "no prediction interval for {values}: no uncertain input affects {them}",
    "coverage.not_consistent": "not consistent with chance",
    "coverage.surrogate": "intervals from a surrogate model, up to {error} off sampled values",
    "coverage.within": (
        "{observation}: {inside} of {count} within the {share} prediction interval"
    ),
    "drift.batching": (
        "utilization is {where}: demand per item often falls at high utilization (batching)"
    ),
    "drift.candidates": (
        "{names} would explain it, in order of likelihood; to separate them, measure runs "
        "whose rates vary independently"
    ),
    "drift.demand": (
        "{what} is {by} {verb} than in the spec for {of}{relative}, which {changes} utilization "
        "by {share} ({chance})"
    ),
    "drift.demand_per": "service demand per {word}",
    "drift.decreases": "decreases",
    "drift.detectable": "a change of ±{share} would have been detected",
    "drift.detected": (
        "drift detected: at the rates of these runs, utilization is {level} than the spec "
        "predicts ({chance}).{describe}"
    ),
    "drift.heading": "{file} against {observed}: {resource} of {machine}",
    "drift.idle_utilization": "idle utilization",
    "drift.increases": "increases",
    "drift.input_demand_per": "demand per {word}",
    "drift.latest": "{latest} at the latest, possibly before these runs",
    "drift.no_time": "unknown: the runs have no column `time` or `day`",
    "drift.none": "no drift detected ({chance}); {would}.",
    "drift.one": ("one changed service demand would explain it: {change}; others may have changed"),
    "drift.several": "several service demands changed; these runs cannot separate them",
    "drift.since": "{at} (95 % confidence interval {earliest} to {latest})",
    "drift.tested": " Tested: the {compared_rows} rows since {moment}.",
    "drift.title": "Drift of the service demands on {resource}",
    "drift.utilizations": (
        "{runs} in these runs, {stated} where the service demands were measured"
    ),
    "drift.within_tolerance": (
        "no drift detected: at the rates of these runs, utilization is {level} than the spec "
        "predicts, within the tolerance of {share} ({chance}); {would}."
    ),
    "fit.as_many_parameters": (
        "there are as many parameters as distinct rows, so the fit is always exact; its "
        "confidence intervals assume the noise of other tables; measure more runs"
    ),
    "fit.better_curve": (
        "a curve predicts rows that were left out better: `{flags}`, with an error of {after} "
        "instead of {before} (root mean square, of the measured utilization)"
    ),
    "fit.better_column": (
        "costs that depend on `{column}` predict rows that were left out better: `{flags}`, with "
        "an error of {after} instead of {before} (root mean square, of the measured utilization)"
    ),
    "fit.below_zero": "{name} is below zero: {advice}",
    "fit.copies": "copies of these",
    "fit.equally_influential": "{count:,} more rows are equally influential",
    "fit.remove_missing": "remove {lines} of the table, which have no measurement",
    "fit.rename_served": "name the column `served in {column}`, as --served reads it",
    "fit.empty_rows": "{lines} without rates and utilization: ignored",
    "fit.idle_rows": (
        "{lines} with utilization but no work: idle utilization. The fit has no idle term, "
        "so these rows are ignored and service demands may be overestimated"
    ),
    "fit.impossible": "{name} is below zero, which is impossible; {advice}",
    "fit.cause.between_cheaper": (
        "without line {line}, the fit is off by {error} there: items or batches of this size cost "
        "less than other sizes predict. Costs are not a straight line over the size, or the row "
        "differs in something that no column has; fit to sizes near your plan, or add the column"
    ),
    "fit.cause.between_dearer": (
        "without line {line}, the fit is off by {error} there: items or batches of this size cost "
        "more than other sizes predict. Costs are not a straight line over the size, or the row "
        "differs in something that no column has; fit to sizes near your plan, or add the column"
    ),
    "fit.cause.largest_cheaper": (
        "without line {line}, the fit is off by {error} there: the largest items or batches "
        "cost less than in proportion (batching, zero copy); fit to sizes near your plan"
    ),
    "fit.cause.largest_dearer": (
        "without line {line}, the fit is off by {error} there: the largest items or batches "
        "cost more than in proportion (another bottleneck, such as memory or the network, or "
        "saturation); fit to sizes near your plan"
    ),
    "fit.cause.smallest_cheaper": (
        "without line {line}, the fit is off by {error} there: the smallest items or batches "
        "cost less than in proportion (batching); fit to sizes near your plan"
    ),
    "fit.cause.smallest_dearer": (
        "without line {line}, the fit is off by {error} there: the smallest items or batches "
        "cost more than in proportion (work per item that larger ones batch, or contention); fit "
        "to sizes near your plan"
    ),
    "fit.cause.step": (
        "utilization rises by {error} from line {other} to line {line}, at nearly the same rate: "
        "work is done in steps (batching in groups of a fixed size, tiles), or runs differ; "
        "measure at multiples of the group size"
    ),
    "fit.large_error": (
        "fit error above {share} of the measured utilization: {points} in line {line}, which "
        "measured {share2}"
    ),
    "fit.largest_error": "up to {error} of the measured utilization",
    "fit.least_influence": "those with the least influence",
    "fit.leave_one_out": "leave-one-out error",
    "fit.leave_one_out_heading": "Leave-one-out error",
    "fit.leave_one_out_median": "leave-one-out error: median {share} of the measured utilization",
    "fit.leave_one_setting_out": "leave-one-setting-out error",
    "fit.less_completed": (
        "{text}, which predict a utilization of {share}. Did the machine complete less work "
        "than was offered?"
    ),
    "fit.line_range": "lines {first} to {last}",
    "fit.low_utilization": (
        "{lines} {were} measured below {share} utilization: the demand per item often "
        "decreases at high utilization (batching), so measure near your target utilization"
    ),
    "fit.median_and_maximum": (
        "{error}: median {median} and maximum {most} of the measured utilization;"
    ),
    "fit.not_measured": "{lines} without a utilization or a rate: ignored",
    "fit.not_shown": "{text}; not shown: {hidden}",
    "fit.not_significant": "{name} is not significantly different from zero",
    "fit.notebook_summary": "{count} service demands fitted to {rows:,} rows",
    "fit.notebook_title": "{file}: service demands on {resource}",
    "fit.nothing_to_paste": "Nothing to paste: {reason}.",
    "fit.repeated_rows": (
        "{lines} repeat{s} an earlier row exactly: intervals are based on the {distinct:,} "
        "distinct rows"
    ),
    "fit.rms": "{text} RMS {points} percentage points of utilization",
    "fit.saturated_rows": (
        "{lines} at {share} utilization or more: ignored, because a saturated machine "
        "completes less work than requested, so service demands would be underestimated (if "
        "rates are completed work, add `--served`)"
    ),
    "fit.scaled": (
        "demands are those of {file}: {factor} times as large, by one factor for all of them. By "
        "how much machines differ from one demand to another is unknown, so intervals do not "
        "include it. The rows below are of the fitted "
        "table"
    ),
    "fit.service_demand": "Service demand",
    "fit.title": "Service demands on {resource}, {cores}",
    "fit.typo": "{text}: check it for a typo",
    "fit.unknown_cores": "the number of cores is unknown; assuming 1. Set it with `--cores 4`",
    "fit.shorter_latency": (
        "line {line} has a mean latency of {latency}, but an item takes {cpu} of CPU time: "
        "requests run on several cores, or work goes on after the response, or the CPU time of "
        "other programs is included. Predicted latencies are too long"
    ),
    "fit.unused_columns": "unused columns: {names}",
    "fit.without_bytes": (
        "{lines} without bytes: ignored, because servers handle empty responses in a "
        "different code path"
    ),
    "measure.all_rows": "all rows: {text}",
    "measure.and_more": "; and {more} more",
    "measure.as_many_runs": "as many service demands as runs: `--repeat 5` gives intervals",
    "measure.by_process": (
        "{reason}: CPU time is read per process, and from parents for children that have ended"
    ),
    "measure.columns_not_shown": "Columns not shown: {names}.",
    "measure.failed": "failed: {setting} (repetition {repetition}): {reason}",
    "measure.includes_start": (
        "the service demand includes the start of the program; vary the number of items to "
        "separate them: `--vary 'count in 1000, 10000 {item}'`"
    ),
    "measure.largest_error": "at most {share} of a run",
    "measure.no_load": "  (no load)",
    "measure.no_socket": "the server has no visible listening socket; measuring starts anyway",
    "measure.not_significant": (
        "the service demand of `{item}` is not significantly different from zero"
    ),
    "measure.nothing_to_paste": "Nothing to paste: a service demand is not above zero.",
    "measure.plan": "{runs} runs of {settings} settings, about {seconds:.0f} s:",
    "measure.progress": "run {run} of {runs}",
    "measure.raw_data": "Raw data",
    "measure.resume": "; `--resume` measures what is missing",
    "measure.step_title": "Service demands of one command",
    "measure.stopped": (
        "stopped: {runs} of {all} runs are stored in {file}; continue with `--resume`"
    ),
    "measure.title": "Measured utilization of {cores} core{s}",
    "observe.spans_read": "{spans:,} spans read",
    "observe.system_written": (
        "{output}: {services} service{s}, {routes} kind{rs} of request{rs}; answer its lines "
        "marked QUESTION, then run `qps solve {output}`"
    ),
    "observe.unencrypted": (
        "warning: credentials are sent unencrypted to another machine: use https://"
    ),
    "observe.written": "{rows:,} row{s} written to {output}",
    "scalability.at_most": "{shown}, the most that were measured",
    "scalability.less_with_more": "{shown}; {loss} less with {most:,}",
    "scalability.no_limit": (
        "throughput rises in proportion to {by} up to {most:,}: the table shows no limit; measure "
        "with more {by}"
    ),
    "scalability.cause.knee": (
        "without line {line} ({by}: {clients:,}), the fit is off by {error} there: saturation "
        "begins near it, and only this row shows where; measure more numbers of {by} around it"
    ),
    "scalability.cause.only_saturated": (
        "without line {line} ({by}: {clients:,}), the fit is off by {error} there: only this row "
        "shows how far contention, coherency or saturation limit the throughput; measure more "
        "numbers of {by} below it"
    ),
    "scalability.cause.only_unsaturated": (
        "without line {line} ({by}: {clients:,}), the fit is off by {error} there: only this row "
        "shows the throughput before saturation, and so the demand of a single request; measure "
        "more numbers of {by} near it"
    ),
    "scalability.cause.other_shape": (
        "errors of neighboring rows are alike: the throughput does not follow contention and "
        "saturation alone. Another bottleneck, or conditions that change with the number of {by}, "
        "shape the curve"
    ),
    "scalability.cause.still_rising": (
        "without line {line} ({by}: {clients:,}), the fit is off by {error} there: "
        "throughput still rises where the other rows show saturation (batching, or another "
        "bottleneck before it); "
        "measure with more {by}"
    ),
    "scalability.cause.superlinear": (
        "throughput per client rises by {error} from {clients:,} to {until:,} {by}: requests are "
        "cheaper together (batching, group commit, caches), which the fit does not model; fit to "
        "numbers of {by} near your plan"
    ),
    "scalability.cause.unlike_neighbors": (
        "without line {line} ({by}: {clients:,}), the fit is off by {error} there: it "
        "is on another curve than its neighbors. Runs differ (noise, other load), or another "
        "bottleneck limits some of them; repeat these runs"
    ),
    "scalability.at_once": "{item}s at once",
    "scalability.bonus": "extra per hardware thread",
    "scalability.collapse": (
        "throughput falls by {loss} from {clients:,} to {most:,} {by} (coherency): limit the "
        "number of requests in progress to {clients:,}, for example by a connection pool"
    ),
    "scalability.error": "up to {error} of the measured throughput",
    "scalability.measured": "Measured {item}s/s",
    "scalability.no_think_time": ("agree with the throughput by Little's law, without think time"),
    "scalability.of_a_core": "% of a core",
    "scalability.peak": "{throughput} {item}s/s with {clients:,} {by}",
    "scalability.rename": ("to use the table in a spec, rename the column `{by}` to a single word"),
    "scalability.response_times": "Response times",
    "scalability.service_times": "Service times",
    "scalability.same_with_more": "{shown}; the same with {most:,}",
    "scalability.rows_shown": "only the first {count} of {of:,} rows are shown",
    "scalability.service_demand": "service demand",
    "scalability.think_time": (
        "shorter than clients / throughput by the think time of the clients, {think}"
    ),
    "scalability.title": "Throughput by {by}",
    "scalability.notebook_title": "{file}: throughput by {by}",
    "scalability.unseen": (
        "leave-one-out error: median {middle} and maximum {most} of the measured throughput"
    ),
    "scalability.variation": "coefficient of variation {variation}",
    "simulation.all_agree": "all {agreeing} predictions agree",
    "simulation.all_pass": "all requirements pass",
    "simulation.differ_unknown": "differ, but their model error is unknown",
    "simulation.differs": "differs, model error unknown",
    "simulation.fails": "is predicted to pass but fails in simulation",
    "simulation.few_items": "not compared (too few items)",
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
    "simulation.one_agrees": "the only prediction agrees",
    "simulation.outside_stated": "outside the stated model error",
    "simulation.passes": "is predicted to fail but passes in simulation",
    "simulation.precise": (
        "For means and utilization, the 95 % confidence intervals are no wider than ±{share}."
    ),
    "simulation.predicted_simulated": "predicted {predicted}, simulated {simulated}",
    "simulation.replications": (
        "{runs} replications of {length}{warm}; seed {seed}. Items measured: {names}."
    ),
    "simulation.some_agree": "{agreeing} of {count} predictions agree",
    "simulation.title": "Simulation at {at}",
    "simulation.throughput": "{stream} throughput per flow",
    "simulation.too_few": "too few items",
    "simulation.undecided": "is undecided: {reason}",
    "simulation.warm_up": ", first {cut} discarded as warm-up",
    "simulation.within_bound": "within bound",
    "trace.and_gaps": "{time} and {share} gaps",
    "trace.area": "under the curve below, equal to mean lateness",
    "trace.best_buffer": "Best buffer",
    "trace.correlation": "Correlation of the measures over {count} traces",
    "trace.distance": "distance from the ideal {value}, limit 1",
    "trace.longest": "longest packet interval",
    "trace.maximum_gaps": "Maximum gaps",
    "trace.mean": "mean packet interval",
    "trace.mean_deviation": "mean deviation from the mean interval",
    "trace.none_within": "none within the limits of {limits}; nearest: {found} ({distance})",
    "trace.of_intervals": "of the packet intervals",
    "trace.one_every": "{sent:,} in {length}, one every {period}",
    "trace.playout_buffer": "Playout buffer",
    "trace.policy_at": "Policy at {time}",
    "trace.range": "longest minus shortest packet interval",
    "trace.sum_of_deviations": "sum of these deviations",
    "trace.title": "Packet trace: jitter and playout buffer",
    "trace.with_buffer": "with a playout buffer of {time}",
    "trace.with_gaps": "{time} with {share} gaps",
    "trace.within_limits": "{found}, within the limits of {limits} ({distance})",
}
