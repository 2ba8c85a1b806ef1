"""Test results as continuous integration wants them: JUnit, GitHub annotations, Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from qps.compiler.diagnostics import Diagnostic, Severity
from qps.compiler.render import printable
from qps.reports.table import joined
from qps.reports.text import claimed, claims_table, predicted, within
from qps.reports.verdicts import STALE, grounds, summary
from qps.solver.claims import ClaimResult, Verdict


def claims_junit(results: Sequence[ClaimResult], diagnostics: Sequence[Diagnostic] = ()) -> str:
    """Return JUnit XML: a suite for each spec, a case for each claim; errors of specs too.

    A value that is shown and not judged is a skipped case, and so is what is known to be missed.
    """
    root = ET.Element("testsuites", name="qps")
    for file, claims in groupby(results, key=lambda result: result.file):
        suite = ET.SubElement(root, "testsuite", name=printable(file))
        in_file = tuple(claims)
        properties = ET.SubElement(suite, "properties")
        ET.SubElement(properties, "property", name="summary", value=summary(in_file))
        for result in in_file:
            _junit_case(suite, result)
    errors = [d for d in diagnostics if d.is_error]
    if errors:
        suite = ET.SubElement(root, "testsuite", name="qps check")
        for error in errors:
            place = "" if error.primary is None else error.primary.span.place
            case = ET.SubElement(suite, "testcase", classname=printable(place), name=error.code.id)
            ET.SubElement(case, "error", message=printable(error.message), type=error.code.slug)
    for element in [*root, root]:
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _junit_case(suite: ET.Element, result: ClaimResult) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=printable(result.file),
        name=printable(result.name),
        file=printable(result.file),
        line=str(result.line),
    )
    if result.fails:
        text = f"{result.file}:{result.line}\n{_sentence(result)}"
        failure = ET.SubElement(case, "failure", message=printable(_sentence(result)))
        failure.text = printable("\n".join([text, *_remarks(result)]))
    elif result.verdict is not Verdict.HOLDS:
        word = "not judged" if result.verdict is Verdict.SHOWN else "missed"
        skipped = ET.SubElement(case, "skipped", message=printable(f"{word}: {_sentence(result)}"))
        skipped.text = printable("\n".join(_remarks(result)))


def _sentence(result: ClaimResult) -> str:
    """Return what was claimed and what the model predicts, in one line."""
    allowed = f" within {within(result)}" if within(result) else ""
    off = result.relative_difference
    difference = "" if off is None else f" ({off:+.1%})"
    stale = f"; {STALE}" if result.verdict is Verdict.STALE else ""
    return f"claimed {claimed(result)}{allowed}, predicted {predicted(result)}{difference}{stale}"


def _remarks(result: ClaimResult) -> list[str]:
    pairs = {
        "source": result.source,
        "note": result.note,
        "fitted": result.fitted,
        "missed": result.missed,
    }
    return [f"{name}: {text}" for name, text in pairs.items() if text]


def claims_github(results: Iterable[ClaimResult], diagnostics: Iterable[Diagnostic] = ()) -> str:
    """Return workflow commands: an annotation for each claim that fails and each diagnostic.

    The commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    lines = []
    for diagnostic in diagnostics:
        where = {}
        if diagnostic.primary is not None:
            span = diagnostic.primary.span
            line, column = span.source.position(span.start)
            where = {"file": span.source.label, "line": str(line), "col": str(column)}
        where["title"] = diagnostic.code.id
        level = "error" if diagnostic.code.severity is Severity.ERROR else "warning"
        message = "\n".join([diagnostic.message, *diagnostic.notes, *diagnostic.hints])
        lines.append(_command(level, where, message))
    for result in results:
        if result.fails:
            where = {"file": result.file, "line": str(result.line), "title": result.name}
            message = "\n".join([_sentence(result), *_remarks(result)])
            lines.append(_command("error", where, message))
    return "".join(f"{line}\n" for line in lines)


def _command(level: str, where: dict[str, str], message: str) -> str:
    """Return one workflow command; its escapes keep a spec's text from giving commands."""
    properties = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in where.items()
    )
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(text)


def claims_markdown(results: Sequence[ClaimResult]) -> str:
    """Return a pull-request comment: the count, what fails, and all claims folded away."""
    failing = [r for r in results if r.fails]
    head = "### " + ("✗ " if failing else "✓ ") + "qps test: " + summary(results)
    parts = [head]
    if failing:
        parts.append(claims_table(failing).as_markdown())
    parts.append(
        f"<details><summary>all {len(results):,} claims</summary>\n\n"
        + "\n".join(t.as_markdown() for t in (claims_table(results), *grounds(results)))
        + "\n</details>"
    )
    return joined(parts)
