"""`qps test`: every claim and observation, expected against predicted."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

from msgspec import Struct, field

from qps.commands.arguments.simulation_effort import interval_of, seconds_of
from qps.commands.cache.spec_cache import check_file
from qps.commands.drift_test import is_drift_test, run_drift
from qps.commands.file_dependents import requested_specs
from qps.commands.terminal.console import Exit, complain, print_json, show, wants_color, width_of
from qps.commands.terminal.output import style
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.visible_text import one_line
from qps.compiler.pipeline import Spec
from qps.compiler.project.project_file import project_of
from qps.links import resolved_path
from qps.reports.text.claims.claim_formats import (
    ClaimOutcomes,
    UntestedReason,
    claims_github,
    claims_junit,
    claims_markdown,
    fault,
    mistake,
    wrong_table,
)
from qps.reports.text.claims.claim_summary import UntestedCounts
from qps.reports.text.claims.claim_values import claims_json
from qps.reports.text.claims.claims_text import claims_text
from qps.reports.text.words.phrases import phrase
from qps.simulation.claim_simulator import claim_simulator
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult, Coverage
from qps.solver.claims.simulated_claims import Simulator
from qps.solver.uncertainty.interval_result import PROBABILITY


def run(arguments: Namespace) -> Exit:
    """Test every spec that was named; nothing to test is no success."""
    if is_drift_test(arguments):
        return run_drift(arguments)
    paths = requested_specs(arguments)
    simulator = claim_simulator(seconds_of(arguments.seconds)) if arguments.simulate else None
    probability = interval_of(arguments.interval)
    with Progress(total=len(paths), quiet=arguments.quiet, unit=None) as progress:
        tested = tested_specs(paths, progress, simulator, probability)
    show(tested.diagnostics, arguments)
    of_some = arguments.readers or arguments.changed
    if of_some and not tested.results and not tested.wrong:
        if not arguments.quiet:
            which = (
                phrase("term.changed_files") if arguments.changed else phrase("claims.these_files")
            )
            print(phrase("claims.no_spec_reads", which=which))
        return Exit.YES
    if not tested.results and not tested.wrong:
        raise complain(
            "these specs contain no claims to test",
            "add an `expect` block, such as `expect launch { capacity >= 1000; source model }`",
        )
    _print(tested, arguments)
    return status_of(tested)


def status_of(tested: ClaimOutcomes) -> Exit:
    """Return what became of specs as an exit status."""
    if any(one.kind == "fault" for one in tested.wrong):
        return Exit.FAULT
    if tested.wrong:
        return Exit.WRONG
    return Exit.NO if any(result.fails for result in tested.results) else Exit.YES


def tested_specs(
    paths: Iterable[Path],
    progress: Progress | None,
    simulator: Simulator | None,
    probability: float,
) -> ClaimOutcomes:
    """Test specs, each claim by itself: what is wrong with one takes no other away."""
    testing = _Testing(progress=progress, simulator=simulator, probability=probability)
    for number, path in enumerate(paths, 1):
        testing.file(path)
        testing.advance(number, path)
    return ClaimOutcomes(
        results=tuple(testing.results),
        seconds=tuple(testing.seconds),
        diagnostics=tuple(testing.found),
        wrong=tuple(testing.wrong),
        untested=UntestedCounts(testing.unread, testing.unanswered),
        coverages=tuple(testing.coverages),
    )


class _Testing(Struct, kw_only=True):
    """Gathers what becomes of specs."""

    results: list[ClaimResult] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)
    wrong: list[UntestedReason] = field(default_factory=list)
    unread: int = 0
    unanswered: int = 0
    progress: Progress | None = None
    simulator: Simulator | None = None
    probability: float = PROBABILITY
    coverages: list[Coverage] = field(default_factory=list)

    def advance(self, done: float, path: Path) -> None:
        """Tell how many specs are done, and which was at work."""
        if self.progress is not None:
            self.progress.advance(done - self.progress.done, path.name)

    def file(self, path: Path) -> None:
        """Check a spec and test what it claims."""
        try:
            outcome = check_file(path)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other specs are tested
            self._fault(error, path)
            self.unread += 1
            return
        self._print(outcome.diagnostics, path)
        if outcome.value is None:
            self.unread += 1
        else:
            self._claims(outcome.value, path)

    def _claims(self, spec: Spec, path: Path) -> None:
        first = len(self.results)
        before = 0.0 if self.progress is None else self.progress.done
        claims = Claims.of(spec, self.simulator, self.probability)
        questions = list(claims.questions())
        for number, question in enumerate(questions):
            self.advance(before + number / len(questions), path)
            begin = perf_counter()
            try:
                found = question.ask()
            except QpsError as error:
                self._print(error.diagnostics, path)
                self.unanswered += question.claims
                continue
            except Exception as error:  # noqa: BLE001 - a fault of ours takes no other claim away
                self._fault(error, path)
                self.unanswered += question.claims
                continue
            self.results += found
            self.seconds += [(perf_counter() - begin) / len(found) for _ in found]
        self._print(claims.runner.warnings, path)
        self.coverages += claims.coverages
        project = project_of(resolved_path(path).parent).value
        self._print(claims.accepted.unused(self.results[first:], project), path)

    def _print(self, found: Iterable[Diagnostic], path: Path) -> None:
        for diagnostic in found:
            self.found.append(diagnostic)
            if diagnostic.is_error:
                self.wrong.append(mistake(diagnostic, str(path)))

    def _fault(self, error: Exception, path: Path) -> None:
        message = fault(error, str(path))
        self.wrong.append(message)
        print(one_line(f"{message.place}: {message.message}"), file=sys.stderr)
        if os.environ.get("QPS_TRACEBACK"):
            traceback.print_exception(error)


def _print(tested: ClaimOutcomes, arguments: Namespace) -> None:
    """Print the results, and which specs are wrong."""
    match arguments.format:
        case "junit":
            sys.stdout.write(claims_junit(tested))
        case "github":
            sys.stdout.write(claims_github(tested))
        case "json":
            print_json(claims_json(tested))
        case "markdown":
            sys.stdout.write(claims_markdown(tested))
        case _:
            if tested.results:
                text = claims_text(
                    tested.results,
                    tested.untested,
                    coverages=tested.coverages,
                    quiet=arguments.quiet,
                    color=wants_color(arguments.color, sys.stdout),
                    width=width_of(sys.stdout),
                )
                style(sys.stdout, text)
            if tested.wrong and tested.results:
                sys.stdout.write(
                    phrase("claims.not_tested_list")
                    + wrong_table(tested.wrong).as_text(width=width_of(sys.stdout))
                )
