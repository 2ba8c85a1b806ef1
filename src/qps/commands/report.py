"""`qps report`: one self-contained HTML file, and its answer in a line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil
from pathlib import Path
from typing import Protocol, TypeVar

from qps.commands.cache.spec_cache import load
from qps.commands.matrices import result_page
from qps.commands.matrices.result_page import is_result
from qps.commands.revisions.provenance import command_line, origin_line
from qps.commands.terminal.console import Exit, complain, show
from qps.commands.terminal.isolated_files import each_apart
from qps.commands.terminal.output_files import refuse_inputs, refuse_other_endings, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.pipeline import Spec
from qps.reports.pages.claims_section import ClaimsSection, claims_section
from qps.reports.pages.configuration_comparison import compared
from qps.reports.pages.course_charts import CourseSection, incident_section
from qps.reports.pages.html_page import render_html
from qps.reports.pages.live.live_page import live_page
from qps.reports.pages.report_page import SimulatedSection, page_view
from qps.reports.text.changes.sizing_sentences import sizing_answer
from qps.reports.text.solutions.capacity_text import at_headline, capacity
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.simulation.claim_simulator import claim_simulator
from qps.solver.answers.solution import CapacityVerdict
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import DrawnFigure, draw
from qps.solver.details.answer_details import answer_details
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.solved_spec import SolvedSpec, solved_spec
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.variants.model_variants import ShownCase, model_variants
from qps.solver.what_if.sizing import size


def run(arguments: Namespace) -> Exit:
    """Write the report of one spec, or of several configurations side by side."""
    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    if any(is_result(path) for path in arguments.files):
        return result_page.run(arguments)
    files = list(dict.fromkeys(arguments.files))
    if len(files) > 1:
        loaded, worst = each_apart(files, load, lambda found: show([*found], arguments))
        specs = [spec for _, spec in loaded]
        if not specs:
            return worst
    else:
        specs, worst = [load(files[0])], Exit.YES
    _output(arguments, specs)
    for spec in specs:
        show(spec.warnings, arguments)
    if arguments.figure:
        return _figures_only(specs, arguments)
    with Progress(total=_STEPS, quiet=arguments.quiet, unit=None, label="answers") as progress:
        if len(specs) > 1:
            specs, solved, unsolved = _each_solved(specs, arguments)
            worst = max(worst, unsolved)
            if not specs:
                return worst
        else:
            solved = _solved(specs, arguments, with_confidence=True)
        page, found = page_of(specs, arguments, progress, solved=solved)
    output = _write(page, arguments, specs[0])
    if not arguments.quiet:
        print(_in_one_line(output, found))
    return max(worst, Exit.NO if found[0].answer.capacity is None else Exit.YES)


def _each_solved(
    specs: list[Spec], arguments: Namespace
) -> tuple[list[Spec], list[SolvedSpec], Exit]:
    """Return the specs that have an answer, their answers, and the worst that became of others."""
    left = {Path(spec.model.file): spec for spec in specs}
    advised: list[Path] = []

    def solve_all(path: Path) -> list[SolvedSpec]:
        own = _solved([left[path]], arguments, with_confidence=True, advice=not advised)
        advised.append(path)
        return own

    answers, worst = each_apart(left, solve_all, lambda found: show([*found], arguments))
    solved = [one for _, own in answers for one in own]
    return [left[path] for path, _ in answers], solved, worst


def _in_one_line(output: Path, found: list[SolvedSpec]) -> str:
    """Return where the page is, and the answer of the first configuration on it."""
    others = phrase("report.more_beside", count=len(found) - 1) if found[1:] else ""
    answer, labels = found[0].answer, found[0].model.derived(labels_of)
    if answer.verdict is not CapacityVerdict.LIMITED or answer.at_confidence:
        return f"{output}: {answer_sentence(answer, labels)}{others}"
    limited_by = (answer.at_reliable or answer).limited_by
    limit = "" if limited_by is None else f"; limit: {labels.of(limited_by)}"
    return f"{output}: capacity {capacity(answer)}{limit}{others}"


_STEPS = 4
"""Of a report: its answers, its claims, its figures, and what is live of it."""


CONFIDENCE_STEP = phrase("report.its_confidence")
COMBINATIONS_STEP = phrase("report.other_combinations")
"""The name of the part of a page without which it takes every number for known."""

T = TypeVar("T")


class PagePart(Protocol):
    """Makes a part of a page, which has a name; None where it cannot be made."""

    def __call__(self, name: str, make: Callable[[], T], /) -> T | None:
        """Return what is made, or keep the name of what is not."""


def page_of(
    specs: list[Spec],
    arguments: Namespace,
    progress: Progress,
    tried: PagePart | None = None,
    solved: list[SolvedSpec] | None = None,
) -> tuple[str, list[SolvedSpec]]:
    """Return the page, and what was `solved` for it, here or before.

    Where parts are `tried`, as there is no numpy for all, the page draws its lines and every sample
    by itself.
    """
    make = tried or _timed
    found = solved or _solved(specs, arguments, with_confidence=tried is None)
    progress.advance(1, "claims")
    simulator = claim_simulator() if arguments.simulate else None
    claims_of_specs = [Claims.of(spec, simulator) for spec in specs]
    claims = _claims(claims_of_specs, make, progress)
    progress.advance(2 - progress.done, "figures")
    figures = _drawn_figures(claims_of_specs, make, progress)
    progress.advance(3 - progress.done, phrase("term.page"))
    settings = tuple(arguments.set)
    cases = [ShownCase(one.stated, one.configuration, settings, one.answer) for one in found]
    first = found[0]
    variants = partial(model_variants, cases, arguments.variants)
    spread = make(CONFIDENCE_STEP, variants)
    draws_samples = tried is not None and spread is not None
    live = make(
        COMBINATIONS_STEP, lambda: live_page(spread or variants(has_spreads=False), figures)
    )
    live = live or live_page(model_variants(cases, 1, has_spreads=spread is not None), figures)
    courses = [] if len(found) > 1 else _incidents(first, arguments, make)
    page = page_view(
        first.model,
        first.configuration,
        first.answer,
        answer_details(
            first.model,
            first.configuration,
            first.graph,
            at_headline(first.answer),
            has_curves=tried is None,
        ),
        claims,
        figures,
        live,
        draws_samples=draws_samples and bool(uncertain_in(first.configuration)),
        simulated=_simulated(first) if arguments.simulate else None,
        growth=_growth(first) if arguments.advice else (),
        incidents=courses,
        compared=compared(cases, [one.answer for one in found]),
        origin=_origin(arguments, specs, first),
    )
    return render_html(page), found


def _origin(arguments: Namespace, specs: Sequence[Spec], first: SolvedSpec) -> str:
    """Return when the page was made and of which revision, and below it by which command."""
    command = command_line(arguments)
    if not command:
        return origin_line(specs)
    if not uncertain_in(first.configuration):
        return f"{origin_line(specs)}\n{phrase('command.made_with', command=command)}"
    sampling = Sampling()
    of = {"samples": sampling.samples, "seed": sampling.seed}
    made = phrase("command.made_with.samples", command=command, **of)
    return f"{origin_line(specs)}\n{made}"


def _incidents(found: SolvedSpec, arguments: Namespace, make: PagePart) -> list[CourseSection]:
    """Return the incidents of a spec for as many users as the page is about."""
    at, labels = at_headline(found.answer).at, found.model.derived(labels_of)
    sections: list[CourseSection] = []
    for one in found.stated.incidents:

        def section(incident: ir.Incident = one) -> CourseSection:
            try:
                answer = incident_answer(
                    found.stated, found.configuration, incident, at, advice=arguments.advice
                )
            except QpsError as error:  # such as an overload before it
                return CourseSection(
                    heading=phrase("course.chart.incident", name=incident.name),
                    why_not=error.diagnostics[0].message,
                )
            return incident_section(answer, incident, found.stated, labels, found.configuration)

        made = make(f"incident {one.name}", section)
        sections += [] if made is None else [made]
    return sections


def _claims(claims: list[Claims], make: PagePart, progress: Progress) -> ClaimsSection:
    """Return what became of the claims of all specs; some may not be judged."""
    questions = [question for one in claims for question in one.questions()]
    results: list[ClaimResult] = []
    unevaluated = 0
    for question in questions:
        judged = make(f"claim {question.name}", question.ask)
        results += judged or ()
        unevaluated += question.claims if judged is None else 0
        progress.advance(1 / len(questions))
    coverages = [coverage for one in claims for coverage in one.coverages]
    return claims_section(results, coverages, unevaluated)


def _drawn_figures(
    claims: list[Claims], make: PagePart, progress: Progress
) -> list[tuple[ir.Model, DrawnFigure]]:
    """Return the figures of all specs, each with its model; some may not be drawn."""
    wanted = [(one.runner, figure) for one in claims for figure in one.runner.model.figures]
    figures: list[tuple[ir.Model, DrawnFigure]] = []
    for runner, figure in wanted:
        drawn = make(f"figure {figure.name}", partial(draw, runner, figure))
        figures += [] if drawn is None else [(runner.model, drawn)]
        progress.advance(1 / len(wanted))
    return figures


def _timed(_: str, make: Callable[[], T]) -> T:
    return make()


_MORE_BY = (Fraction(11, 10), Fraction(3, 2), Fraction(2))


def _growth(found: SolvedSpec) -> tuple[str, ...]:
    """Return what it takes to carry 10 %, 50 % and 100 % more; nothing where that is not known."""
    now = found.answer.capacity
    if found.answer.verdict is not CapacityVerdict.LIMITED or now is None:
        return ()
    wanted = {ceil(now * more): more for more in _MORE_BY}
    labels = found.model.derived(labels_of)
    points: list[str] = []
    for at, more in wanted.items():
        if at > found.answer.high:
            break
        try:
            sizing = size(found.model, found.configuration, at, with_fixes=not points)
        except QpsError:
            return ()
        answer, share = labels.sentence(sizing_answer(sizing)), f"{(more - 1) * 100} % more"
        is_named = answer.startswith(f"{at:,} ")
        points.append(f"{share}: {answer}" if is_named else f"{share} ({at:,}): {answer}")
    return tuple(points)


def _simulated(found: SolvedSpec) -> SimulatedSection:
    """Return the simulated values at the population that the report is about."""
    from qps.commands.simulate import simulated_at_typical_values  # noqa: PLC0415 - seldom
    from qps.reports.text.claims.simulation_text import (  # noqa: PLC0415 - seldom
        simulated_tables,
        simulation_lines,
    )
    from qps.simulation.agreement import compared, quantile_levels  # noqa: PLC0415
    from qps.simulation.replications import Effort, simulate  # noqa: PLC0415
    from qps.simulation.simulated_waits import waiting_measures  # noqa: PLC0415

    levels, waits = quantile_levels(found.model), waiting_measures(found.model)
    effort, at = Effort(levels=levels, measures=waits), found.answer.at
    simulation = simulate(
        simulated_at_typical_values(found.graph, at, found.model, found.configuration), effort
    )
    numbers = compared(found.graph, simulation)
    labels = found.model.derived(labels_of)
    return SimulatedSection(
        at=f"{found.model.population.name} = {at:,}",
        tables=simulated_tables(numbers, labels, has_converged=simulation.has_converged),
        lines=tuple(simulation_lines(simulation, numbers, effort, labels)),
    )


def _solved(
    specs: list[Spec], arguments: Namespace, *, with_confidence: bool, advice: bool = True
) -> list[SolvedSpec]:
    """Return every configuration that was requested; only the first one gets advice."""
    scenarios = list(dict.fromkeys(arguments.scenario)) or [None]
    settings = tuple(arguments.set)
    set_up = [spec.with_parts_of(settings) for spec in specs]
    wanted = [(spec, scenario) for spec in set_up for scenario in scenarios]
    return [
        solved_spec(
            spec,
            scenario,
            settings,
            advice=arguments.advice and advice and index == 0,
            sampling=Sampling(),
            with_confidence=with_confidence,
        )
        for index, (spec, scenario) in enumerate(wanted)
    ]


def _figures_only(specs: list[Spec], arguments: Namespace) -> Exit:
    """Write a page of some figures alone."""
    if len(specs) > 1:
        raise complain("`--figure` takes exactly one spec", "name one spec, such as `site.qps`")
    spec = specs[0]
    runner = ClaimRunner(model=spec.model)
    figures: list[tuple[ir.Model, DrawnFigure]] = [
        (spec.model, draw(runner, figure)) for figure in _figures(spec.model, arguments.figure)
    ]
    scenario = arguments.scenario[0] if arguments.scenario else None
    found = solved_spec(
        spec,
        scenario,
        tuple(arguments.set),
        advice=False,
        sampling=Sampling(),
        with_confidence=False,  # figures alone do not show it
    )
    live = live_page((), figures)
    details = answer_details(
        spec.model, found.configuration, found.graph, at_headline(found.answer)
    )
    page = page_view(
        spec.model, found.configuration, found.answer, details, claims_section(()), figures, live,
        figures_only=True, origin=origin_line(specs),
    )  # fmt: skip
    output = _write(render_html(page), arguments, spec)
    print(
        phrase(
            "report.figures_written", count=len(figures), s="s" * (len(figures) > 1), output=output
        )
    )
    return Exit.YES


def _write(page: str, arguments: Namespace, spec: Spec) -> Path:
    output = _output(arguments, [spec])
    write_text(output, page)
    return output


def _output(arguments: Namespace, specs: list[Spec]) -> Path:
    """Return where the page goes, which is none of the files that the specs are read from."""
    output: Path = arguments.output or Path(f"{specs[0].model.name}.html")
    refuse_inputs(output, (file for spec in specs for file in spec.files))
    return output


def _figures(model: ir.Model, names: list[str]) -> list[ir.Figure]:
    """Return the figures of a model that were requested."""
    known = {figure.name: figure for figure in model.figures}
    for name in names:
        if name not in known:
            raise complain(
                f"{model.file} has no figure named `{name}`",
                did_you_mean(name, list(known)) or f"choose {listed(list(known), 'or')}"
                if known
                else "declare one: `figure name { over N in 2..100; line station.cpu.load }`",
            )
    return [known[name] for name in dict.fromkeys(names)]
