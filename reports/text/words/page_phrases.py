"""Phrases of pages, matrices and files that commands write."""

from __future__ import annotations

from collections.abc import Mapping

PAGE_PHRASES: Mapping[str, str] = {
    "command.all_codes": "docs/errors.md lists all codes",
    "command.changed_since": ", changed since",
    "command.checked": "{count} checked: no errors",
    "command.compared_with": "compared with {text}{fix}",
    "command.for_details": "; for details: `qps explain {id}`",
    "command.made_with": "Command: `{command}`",
    "command.made_with.samples": "Command: `{command}`; {samples:,} samples, seed {seed}",
    "command.generated": "Generated {day} {today:%B %Y} by QPS {version}",
    "command.internal_error": "{path}: internal error of qps: {name}: {error}",
    "command.new_written": "Wrote {path}. To solve it, run: qps solve {path}",
    "command.not_formatted": "not formatted: run `qps fmt`",
    "command.what_changed": "what changed",
    "fmt.average_step": (
        "`{written}` is now the average service demand `{average}`, so results stay the same. If "
        "only some items run `{name}`, write `{chance}` before you upgrade, or use `--chance`"
    ),
    "fmt.average_step.repeated": (
        "`{written}` is now the average service demand `{average}`, so results stay the same. If "
        "some items run `{name}` once more than others, upgrade with `--chance`"
    ),
    "fmt.step_by_chance.repeated": (
        "`{written}` now runs `{name}` once more for some items than for others, so results "
        "change. If every item runs part of it, upgrade without `--chance`, which writes "
        "`{average}`"
    ),
    "fmt.step_by_chance": (
        "`{written}` is now the probability `{chance}`, so results change. If every item runs part "
        "of `{name}`, upgrade without `--chance`, which writes `{average}`"
    ),
    "fmt.would_be_reformatted": "would be reformatted",
    "fmt.would_reformat": "would reformat",
    "report.over_time": "Over time",
    "report.over_time.written": "Over time, for {file} as written (not for the changed settings)",
    "matrix.after_exclusions": ", {rows:,} after exclusions",
    "matrix.capacity_of_each": "capacity of each configuration",
    "matrix.choose_another": "choose another path",
    "matrix.configurations_of": "{size:,} configuration{s} of {name}",
    "matrix.continue_with_resume": "; {stored}, continue with `--resume`",
    "matrix.cost_per_user": "Cost per user",
    "matrix.damaged_part": "{path} is damaged and is computed again",
    "matrix.error": "an internal error",
    "matrix.evaluated_at": "evaluated at",
    "matrix.faults": (
        "qps {version} failed: {faults}.\nAll other rows are correct. Please report it with "
        "the spec and this message."
    ),
    "matrix.feasible_infeasible": "{text}; {feasible:,} feasible, {infeasible:,} infeasible.",
    "matrix.free_disk_space": "{stored}: free disk space, then continue with `--resume`",
    "matrix.from_start": "from the start",
    "matrix.hidden": "Columns not shown: {names}. To save all columns, use `-o FILE`.",
    "matrix.individually": "{count} of {size} {verb} solved individually, which takes longer",
    "matrix.internal_errors": "internal errors",
    "matrix.interrupted": (
        "interrupted: {done:,} of {count:,} parts are stored in {folder}\nto continue, repeat "
        "the command with `--resume`"
    ),
    "matrix.meet_conditions": "; {rows:,} meet the conditions",
    "matrix.more_rows": "{left} more {rows}. To save all rows, use `-o FILE`.",
    "matrix.no_capacity": "; {none_supported} without capacity, see `reason`",
    "matrix.no_result": "{count} without a result after {errors} of qps, see `reason`",
    "matrix.no_units": (
        "The file has no units (CSV has none): values are in base units (s, bit, bit/s, $, "
        "single items)."
    ),
    "matrix.of_them_infeasible": "{text}, {infeasible:,} of them infeasible.",
    "matrix.page_title": "Matrix results: {file}",
    "matrix.pareto_count": (
        "{count:,} of {feasible:,} feasible configurations (capacity and cost)"
    ),
    "matrix.pareto_front": "Pareto front",
    "matrix.part_stored": "1 part is stored",
    "matrix.parts_stored": "{count:,} parts are stored",
    "matrix.plan": (
        "{count} configurations take about {time} of processor time and {size} of disk space, "
        "estimated from {sampled} of them"
    ),
    "matrix.rounded": (
        "Results are rounded to {digits} significant digits; axes and whole numbers are exact."
    ),
    "matrix.running_cost": "Running cost",
    "matrix.running_cost_per_user": "Running cost per user",
    "matrix.samples_excluded": "samples excluded",
    "matrix.saturated_from_start": "saturated at the start",
    "matrix.saturates_at": "{name} saturates at",
    "matrix.saturation_of_bottleneck": "saturation of the bottleneck",
    "matrix.start_workers": "start workers of this version, or remove `--on` to use this machine",
    "matrix.stays_full": "at its limit up to capacity",
    "matrix.summary_written": "{summary}\nwritten to {output}",
    "matrix.to_answer": " to the answer",
    "matrix.unavailable": "Not available in any row: {names}; `qps solve` states the reason.",
    "matrix.unresolved_saturation": "unresolved saturation above",
    "matrix.up_to_date": "{summary}\n{output} is up to date",
    "matrix.utilization_of": "{name} utilization",
    "matrix.why_infeasible": "why infeasible",
    "matrix.worker_memory": "memory is the most common cause: use fewer with `--workers`",
    "matrix.written_to": "written to {output}",
    "report.approximated": "Model",
    "report.capacity": "Capacity",
    "report.figures": "{count} chart{s}",
    "report.formulas": "{count} formula{s}, with their inputs",
    "report.inputs": "Inputs",
    "report.not_stated": "No uncertainty is stated: inputs are taken as exact.",
    "report.more_reasons": "All {count} others: `qps solve --all`.",
    "report.on_paper": "Assumptions and model error",
    "report.uncertainty": "Uncertainty",
    "report.at_all_populations": "{resources}: {initially} at all populations.",
    "report.figures_written": "{count} figure{s} written to {output}",
    "report.its_confidence": "its confidence",
    "report.other_combinations": "other combinations of options, machines and networks",
    "report.measure_chart": (
        "Each measure as a share of its limit; above 100 % the requirement fails"
    ),
    "report.more_below": "… {count} more below {floor:,} %",
    "report.more_beside": " ({count} more beside it)",
    "report.no_scenario_result": (
        "Scenario {name} has no result: see `qps solve {file} --scenario {name}`."
    ),
    "report.nominal_elsewhere": (
        "All other results on this page use the nominal values of uncertain inputs."
    ),
    "report.not_evaluated": "{count:,} not evaluated",
    "report.probability_saturating_first": "Probability of saturating first",
    "report.reached_at": "Reached at",
    "report.saturates_at": "{mark} saturates at {value}",
    "report.saturation_point_of": "the saturation point of {resource}",
    "report.set_at": "set at {place}",
    "report.shorter_steps": "{count} shorter steps are in the table only.",
    "report.shown_at": "Shown at",
    "report.stage_mean_per_item": "Stage (mean per item)",
    "report.utilization_chart": "Utilization over {name} from {low:,.0f} to {high:,.0f}; ",
    "report.variants_included": (
        "This page includes {count} of {combinations:,} combinations of options, machines "
        "and networks, those closest to the initial settings. To include another one, run "
        "`qps report {file} --set NAME=CHOICE`; to include more, add `--variants`."
    ),
    "serve.internal_error": "internal error of qps: {text}",
    "serve.started": "serving {file} at {address}, updated on each save; stop with Ctrl-C",
}
