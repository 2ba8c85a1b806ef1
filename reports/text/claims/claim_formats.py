"""Test results as continuous integration wants them: JUnit, GitHub annotations, Markdown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Diagnostic, Severity
from qps.compiler.diagnostics.render import printable
from qps.reports.text.claims.claim_quantities import claimed, predicted, relative_error, within
from qps.reports.text.claims.claim_summary import NOTHING_UNTESTED, UntestedCounts, summary
from qps.reports.text.claims.claims_text import claims_table
from qps.reports.text.claims.coverage_text import coverage_lines
from qps.reports.text.claims.verdicts import STALE, grounds
from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict, Coverage

MOST_CHARACTERS = 65_536
"""What a comment on a pull request holds on GitHub."""


class UntestedReason(Struct, frozen=True, kw_only=True):
    """Reason why something was not tested: an error in a spec, or an internal error.

    `line` is 0 if unknown.
    """

    file: str
    line: int = 0
    code: str
    kind: str
    message: str

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.file}:{self.line}" if self.line else self.file


def mistake(diagnostic: Diagnostic, file: str = "") -> UntestedReason:
    """Return a diagnostic as the reason why something was not tested."""
    line, code = 0, diagnostic.code
    if diagnostic.primary is not None:
        file, line = diagnostic.primary.span.source.label, diagnostic.primary.span.line
    return UntestedReason(
        file=file, line=line, code=code.id, kind=code.slug, message=diagnostic.message
    )


def fault(error: Exception, file: str) -> UntestedReason:
    """Return a fault of ours as the reason why something was not tested."""
    message = phrase("term.internal_error", name=type(error).__name__, error=error)
    return UntestedReason(file=file, code="fault", kind="fault", message=message)


class ClaimOutcomes(Struct, frozen=True, kw_only=True):
    """What became of specs: of each claim, in how many seconds, and why others have no answer."""

    results: tuple[ClaimResult, ...]
    seconds: tuple[float, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    wrong: tuple[UntestedReason, ...] = ()
    untested: UntestedCounts = NOTHING_UNTESTED
    coverages: tuple[Coverage, ...] = ()


def claims_junit(tested: ClaimOutcomes) -> str:
    """Return JUnit XML: a suite for each spec, a case for each claim; errors of specs too.

    A value that is shown and not judged is a skipped case, and so is what is known to be missed.
    """
    return junit_text(claims_suites(tested))


def claims_suites(tested: ClaimOutcomes) -> ET.Element:
    """Return the suites of claims, not counted yet: others may be added."""
    root = ET.Element("testsuites", name="qps")
    timed = zip(tested.results, tested.seconds, strict=True)
    for file, claims in groupby(timed, key=lambda pair: pair[0].file):
        suite = ET.SubElement(root, "testsuite", name=printable(file))
        in_file = tuple(claims)
        properties = ET.SubElement(suite, "properties")
        totals = summary([result for result, _ in in_file])
        ET.SubElement(properties, "property", name="summary", value=totals)
        for result, seconds in in_file:
            _junit_case(suite, result, seconds)
    if tested.wrong:
        suite = ET.SubElement(root, "testsuite", name="qps check")
        for one in tested.wrong:
            names = {"classname": printable(one.place), "name": one.code, "time": _time(0.0)}
            case = ET.SubElement(suite, "testcase", names)
            ET.SubElement(case, "error", message=printable(one.message), type=one.kind)
    return root


def junit_text(root: ET.Element) -> str:
    """Return suites as XML, with counts and times."""
    for element in [*root, root]:
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        element.set("time", _time(sum(float(case.get("time", "0")) for case in cases)))
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _time(seconds: float) -> str:
    """Return seconds to the microsecond: what an answer before has made known takes a few."""
    return f"{seconds:.6f}"


_SKIPPED = {
    ClaimVerdict.SHOWN: phrase("claims.not_judged"),
    ClaimVerdict.NOT_SIMULATED: phrase("claims.not_simulated"),
}


def _junit_case(suite: ET.Element, result: ClaimResult, seconds: float) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=printable(result.file),
        name=printable(result.name),
        file=printable(result.file),
        line=str(result.line),
        time=_time(seconds),
    )
    if result.fails:
        text = f"{result.file}:{result.line}\n{sentence(result)}"
        failure = ET.SubElement(case, "failure", message=printable(sentence(result)))
        failure.text = printable("\n".join([text, *remarks(result)]))
    elif result.verdict is not ClaimVerdict.HOLDS:
        word = _SKIPPED.get(result.verdict, result.verdict.value)
        skipped = ET.SubElement(case, "skipped", message=printable(f"{word}: {sentence(result)}"))
        skipped.text = printable("\n".join(remarks(result)))


def sentence(result: ClaimResult) -> str:
    """Return what was claimed and what the model predicts, in one line."""
    if result.verdict is ClaimVerdict.UNCLAIMED:
        return claimed(result) or result.name
    allowed = f" within {within(result)}" if within(result) else ""
    off = result.relative_difference
    difference = "" if off is None else f" ({relative_error(off)})"
    stale = f"; {STALE}" if result.verdict is ClaimVerdict.STALE else ""
    return phrase(
        "claims.expected_predicted",
        claimed=claimed(result),
        allowed=allowed,
        predicted=predicted(result),
        difference=difference,
        stale=stale,
    )


def remarks(result: ClaimResult) -> list[str]:
    """Return what else is known of a claim, a line each."""
    pairs = {
        "source": result.source,
        "note": result.note,
        "calibrated": result.fitted,
        "missed": result.missed,
        "excepted": result.excepted,
        "undecided": None if result.simulated is None else result.simulated.why,
    }
    return [f"{name}: {text}" for name, text in pairs.items() if text]


def claims_github(tested: ClaimOutcomes) -> str:
    """Return workflow commands: an annotation for each claim that fails and each diagnostic.

    The commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    lines = []
    for diagnostic in tested.diagnostics:
        where = {}
        if diagnostic.primary is not None:
            span = diagnostic.primary.span
            line, column = span.source.position(span.start)
            where = {"file": span.source.label, "line": str(line), "col": str(column)}
        where["title"] = diagnostic.code.id
        level = "error" if diagnostic.code.severity is Severity.ERROR else "warning"
        message = "\n".join([diagnostic.message, *diagnostic.notes, *diagnostic.hints])
        lines.append(workflow_command(level, where, message))
    for one in tested.wrong:
        if one.kind == "fault":
            where = {"file": one.file, "title": phrase("term.internal_error_qps")}
            lines.append(workflow_command("error", where, one.message))
    for result in tested.results:
        if result.fails:
            where = {"file": result.file, "line": str(result.line), "title": result.name}
            message = "\n".join([sentence(result), *remarks(result)])
            lines.append(workflow_command("error", where, message))
    return "".join(f"{line}\n" for line in lines)


def workflow_command(level: str, where: dict[str, str], message: str) -> str:
    """Return one workflow command; its escapes keep a spec's text from giving commands."""
    if "file" in where:
        where = where | {"file": Path(where["file"]).as_posix()}  # as git names it, on Windows too
    properties = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in where.items()
    )
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(text)


def claims_markdown(tested: ClaimOutcomes, most: int = MOST_CHARACTERS) -> str:
    """Return a pull-request comment: the count, what fails, and all claims folded away.

    It has `most` characters at most: what does not fit is counted.
    """
    results, wrong = tested.results, tested.wrong
    failing = [result for result in results if result.fails]
    is_well = not failing and not wrong
    mark = "✓" if is_well else "✗"
    text = phrase("claims.markdown_title", mark=mark, summary=summary(results, tested.untested))
    text += "".join(f"\n{line}\n" for line in coverage_lines(tested.coverages).splitlines())
    shown = [
        _Rows(phrase("claims.not_tested"), "errors", wrong_table(wrong)),
        _Rows("", phrase("claims.claims_fail"), claims_table(failing)),
        _Rows(
            phrase("claims.all_claims", count=len(results)),
            "claims",
            claims_table(results),
            is_folded=True,
        ),
        *(_Rows(one.kind, "reasons", one.as_table, is_folded=True) for one in grounds(results)),
    ]
    for rows in shown:
        text += rows.within(most - len(text))
    return text


def wrong_table(wrong: Sequence[UntestedReason]) -> Table:
    """Return why something was not tested, a row each."""
    rows = tuple((one.place, one.code, one.message) for one in wrong)
    return Table(("Place", "Code", "Message"), rows, long=frozenset([2]))


class _Rows(Struct, frozen=True):
    """A part of a comment: a table that may be cut."""

    title: str
    what: str
    table: Table
    is_folded: bool = False

    def within(self, most: int) -> str:
        """Return as many of the rows as fit into so many characters; empty where nothing does."""
        count = len(self.table.rows)
        if not count or len(self._text(count)) <= most:
            return self._text(count) if count else ""
        # `bisect` finds the first count of rows that is too long.
        fitting = bisect_right(range(count - 1), most, key=lambda n: len(self._text(n + 1)))
        text = self._text(fitting) if fitting else self._left(count)
        return text if len(text) <= most else ""

    def _text(self, count: int) -> str:
        table = Table(self.table.headings, self.table.rows[:count], self.table.right)
        text = table.as_markdown() + self._left(len(self.table.rows) - count)
        if self.is_folded:
            return f"\n<details><summary>{self.title}</summary>\n\n{text}\n</details>\n"
        return f"\n**{self.title}**\n\n{text}" if self.title else f"\n{text}"

    def _left(self, count: int) -> str:
        return phrase("claims.more_not_shown", count=count, what=self.what) if count else ""
