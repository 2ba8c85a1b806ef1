"""Everything that the scripts of a page work on: models, columns side by side, figures."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.reports.pages.drawings.line_thinning import visible_points
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_model import LiveModel
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.explanations.figure_text import line_label
from qps.reports.text.solutions.capacity_text import at_headline, is_covered
from qps.reports.text.solutions.change_wording import wording
from qps.reports.text.solutions.uncertainty_text import uncertain_inputs, uncertainty_lines
from qps.reports.text.words.labels import Labels, labels_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import scale_of
from qps.solver.answer import Answer
from qps.solver.claims.figure_lines import DrawnFigure
from qps.solver.variants.model_variants import ModelVariants, ShownCase

MOST_BYTES = 310_000
"""Of all models together; the rest of a page is left for scripts, figures, formulas and claims."""

AS_IT_IS = phrase("page.baseline")

_DIGITS = 6


def live_page(
    models: Sequence[ModelVariants], figures: Sequence[tuple[ir.Model, DrawnFigure]] = ()
) -> dict[str, Json]:
    """Return the data of a page: its models, a column for each case of them, the specs' figures."""
    cases = [case for one in models for case in one.cases]
    names = dict(zip(map(id, cases), column_names(cases), strict=True))
    built: list[Json] = []
    columns: list[Json] = []
    for index, one in enumerate(models):
        built.append(LiveModel(one.variants).as_json(MOST_BYTES // len(models)))
        starts = [start.name for start in one.variants.starts]
        labels = one.model.derived(labels_of)
        columns += [
            {
                "model": index,
                "start": starts.index(case.name),
                "name": names[id(case)],
                **_uncertainty(case.answer, labels),
                **_headline(case),
            }
            for case in one.cases
        ]
    return {
        "models": built,
        "columns": columns,
        "figures": {figure_key(model, drawn): _figure(model, drawn) for model, drawn in figures},
    }


def _uncertainty(answer: Answer | None, labels: Labels) -> dict[str, Json]:
    """Return the uncertainty of an answer, as printed; nothing where all is known."""
    if answer is None or answer.uncertainty is None:
        return {}
    uncertainty = answer.uncertainty
    return {
        "uncertainty": {
            "lines": [unquoted(labels.sentence(line)) for line in uncertainty_lines(answer)],
            "samples": uncertainty.samples,
            "inputs": list(uncertain_inputs(uncertainty)),
            "interval": [uncertainty.interval.least, uncertainty.interval.most],
            "atConfidence": uncertainty.at_confidence.capacity,
            "distribution": {
                "start": uncertainty.distribution.start,
                "width": uncertainty.distribution.width,
                "counts": list(uncertainty.distribution.counts),
            },
        }
    }


def _headline(case: ShownCase) -> dict[str, Json]:
    """Return the values at the headline: the page has them until something is changed."""
    answer = case.answer
    if answer is None or answer.at_reliable is None:
        return {}
    beside, shown = answer.at_reliable, at_headline(answer)
    words = wording(case.model, case.configuration, answer)
    return {
        "headline": {
            "at": beside.population,
            "sure": beside.confidence,
            "isErrorCovered": is_covered(answer),
            "limitedBy": beside.limited_by,
            "loads": {one.name: _rounded(one.value) for one in beside.utilizations},
            "needs": {one.name: _rounded(one.value) for one in beside.requirements},
            "met": dict(shown.reliable_limits),
            "covered": []
            if answer.reliable is None
            else [one.name for one in answer.reliable.allowed_for],
        },
        "traffic": sorted(words.traffic),
    }


def column_names(cases: Sequence[ShownCase]) -> list[str]:
    """Return what each case is called beside the others: what differs between them."""
    if len(cases) == 1:
        return [printable(cases[0].name) or AS_IT_IS]
    files = _distinct_names(list(dict.fromkeys(case.model.file for case in cases)))
    several = len({case.configuration.scenario for case in cases}) > 1
    return [
        printable(
            ", ".join(
                [files[case.model.file]] * (len(files) > 1)
                + [case.configuration.scenario or AS_IT_IS] * (several or len(files) == 1)
            )
        )
        for case in cases
    ]


def _distinct_names(files: Sequence[str]) -> dict[str, str]:
    """Return for each file its name, with as many folders as make it unique."""
    parts = {file: Path(file).with_suffix("").parts for file in files}
    most = max(map(len, parts.values()), default=1)  # a page of figures alone compares none
    lengths = (n for n in range(1, most) if len({own[-n:] for own in parts.values()}) == len(files))
    length = next(lengths, most)
    return {file: "/".join(own[-length:]) for file, own in parts.items()}


# -- figures -----------------------------------------------------------------------------


def figure_key(model: ir.Model, drawn: DrawnFigure) -> str:
    """Return what a figure is called in the page: names of several specs may be alike."""
    return f"{model.name}-{drawn.figure.name}"


def _figure(model: ir.Model, drawn: DrawnFigure) -> Json:
    figure = drawn.figure
    indices = visible_points(drawn.at, [c.values for c in drawn.curves], figure.logarithmic)
    values = [v for curve in drawn.curves for v in curve.values if isfinite(v)]
    return {
        "title": printable(f"{figure.name}: {figure.title or figure.name}"),
        "x": {
            "name": figure.parameter or model.population.name,
            "values": [_rounded(drawn.at[i]) for i in indices],
            "scale": list(scale_of(drawn.at[-1], figure.dimension)),
            "isLog": "x" in figure.logarithmic,
        },
        "y": {
            "scale": list(scale_of(max((abs(v) for v in values), default=0.0), drawn.dimension)),
            "isLog": "y" in figure.logarithmic,
        },
        "lines": [
            {
                "name": printable(line_label(curve)),
                "values": [_rounded(curve.values[i]) for i in indices],
            }
            for curve in drawn.curves
        ],
    }


def _rounded(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if isfinite(value) else None
