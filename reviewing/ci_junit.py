"""What `qps ci` found as JUnit XML: a case for each claim, each capacity, and each other error."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from qps.compiler.diagnostics.render import printable
from qps.compiler.project.review_rules import Level
from qps.reports.text.claims.claim_formats import ClaimOutcomes, claims_suites, junit_text
from qps.reviewing.change_review import Review
from qps.reviewing.findings import ANSWER, CAPACITY, CLAIM, FAULT, Finding

_ELSEWHERE = (CLAIM, FAULT, ANSWER, CAPACITY)
"""What has a case of its own already."""


def ci_junit(review: Review, tested: ClaimOutcomes) -> str:
    """Return the report; `tested` are the claims of all specs that changed.

    The mistakes in specs stand among the claims, as `qps test` has them.
    """
    root = claims_suites(tested)
    known = {one.code for one in tested.wrong}
    suite = ET.SubElement(root, "testsuite", name="qps ci")
    capacities = {one.file: one for one in review.findings if one.code in (CAPACITY, ANSWER)}
    for change in review.compared:
        if change.before is not None and change.after is not None:
            _case(suite, change.file, "capacity", capacities.get(change.file))
    for one in review.findings:
        if one.level is Level.ERROR and one.code not in (*_ELSEWHERE, *known):
            _case(suite, one.file, one.title, one)
    return junit_text(root)


def _case(suite: ET.Element, file: str, name: str, found: Finding | None) -> None:
    """Add a case: it fails by an error, and is skipped where that is accepted."""
    line = 1 if found is None else found.line
    names = {"classname": printable(file), "name": printable(name), "file": printable(file)}
    case = ET.SubElement(suite, "testcase", names, line=str(line), time="0.000000")
    if found is None:
        return
    message = printable(found.message.partition("\n")[0])
    if found.level is Level.ERROR:
        failure = ET.SubElement(case, "failure", message=message)
        failure.text = printable(f"{found.file}:{found.line}\n{found.message}")
    elif found.accepted is not None:
        ET.SubElement(case, "skipped", message=printable(f"{found.accepted}; {message}"))
