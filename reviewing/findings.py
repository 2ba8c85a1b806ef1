"""Findings at a place of a file: mistakes, layouts, claims that fail, answers that move.

They are reported to machines in three ways: workflow commands of GitHub, GitLab's code quality
report, and SARIF 2.1.0. All paths are from the top of the repository. Names and texts come from
strangers: each is escaped as where it goes wants it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from qps.compiler.diagnostics.code_explanations import explained, page_of
from qps.compiler.diagnostics.codes import ALL
from qps.compiler.diagnostics.diagnostic import Code, Diagnostic
from qps.compiler.diagnostics.visible_text import printable
from qps.compiler.project.review_rules import BY_NAME, Level, rule_page
from qps.links import resolved_path
from qps.reports.text.claims.claim_formats import (
    UntestedReason,
    remarks,
    sentence,
    workflow_command,
)
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict
from qps.version import __version__

MOST = 1_000
"""Findings that are reported to a machine: more are counted."""

LAYOUT, CLAIM, ANSWER, FAULT = "layout", "claim", "answer", "fault"
CAPACITY, COST, UNCERTAIN = "capacity-decrease", "cost-increase", "claim-uncertain"
_CODES: Mapping[str, Code] = {code.id: code for code in ALL}
_OTHERS: Mapping[str, tuple[str, str]] = {
    LAYOUT: (phrase("finding.layout"), "Run `qps fmt`."),
    CLAIM: (phrase("finding.claim"), phrase("finding.claim_help")),
    ANSWER: (
        phrase("finding.answer"),
        phrase("finding.answer_help"),
    ),
    CAPACITY: (
        phrase("finding.capacity"),
        phrase("finding.capacity_help"),
    ),
    COST: (
        phrase("finding.cost"),
        phrase("finding.cost_help"),
    ),
    UNCERTAIN: (
        phrase("finding.uncertain"),
        phrase("finding.uncertain_help"),
    ),
    FAULT: (phrase("finding.fault"), phrase("finding.fault_help")),
}
"""What is no diagnostic: its summary, and what to do."""


class Finding(Struct, frozen=True, kw_only=True):
    """A finding with its location; lines and columns start at 1.

    If the project file accepts a failure, `accepted` has the date and the reason.
    """

    level: Level
    code: str
    title: str
    message: str
    file: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    accepted: str | None = None

    @property
    def reasoned(self) -> str:
        """The message, with until when and why it is accepted."""
        return "; ".join([self.message, *filter(None, [self.accepted])])


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, the gravest first, then by place."""
    order = list(Level)
    return sorted(findings, key=lambda one: (order.index(one.level), one.file, one.line))


def path_from(top: Path, label: str) -> str:
    """Return a file as it is called from the top of a repository."""
    own = Path(os.path.abspath(label))  # noqa: PTH100 - links stay as they are called
    real = resolved_path(own.parent) / own.name
    way = real.relative_to(top) if real.is_relative_to(top) else Path(label)
    return way.as_posix()


def of_diagnostic(one: Diagnostic, top: Path, file: str) -> Finding:
    """Return a diagnostic as a finding; `file` is where one without a place is reported."""
    level = Level.ERROR if one.is_error else Level.WARNING
    message = "\n".join([one.message, *one.notes, *one.hints])
    finding = Finding(level=level, code=one.code.id, title=one.code.id, message=message, file=file)
    if one.primary is None:
        return finding
    span = one.primary.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(max(span.start, span.end))
    return Finding(
        level=level,
        code=one.code.id,
        title=one.code.id,
        message=message,
        file=path_from(top, span.source.label),
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )


def of_claims(results: Iterable[ClaimResult], top: Path) -> list[Finding]:
    """Return the claims that fail, and those that may fail for a time."""
    return [
        Finding(
            level=Level.ERROR if one.fails else Level.NOTE,
            code=CLAIM,
            title=one.name,
            message="\n".join([sentence(one), *remarks(one)]),
            file=path_from(top, one.file),
            line=one.line,
            end_line=one.line,
            accepted=one.accepted,
        )
        for one in results
        if one.fails or one.verdict is ClaimVerdict.ACCEPTED
    ]


def of_faults(wrong: Iterable[UntestedReason], top: Path) -> list[Finding]:
    """Return the faults of ours."""
    return [
        Finding(
            level=Level.ERROR,
            code=FAULT,
            title=phrase("term.internal_error_qps"),
            message=one.message,
            file=path_from(top, one.file),
        )
        for one in wrong
        if one.kind == "fault"
    ]


def as_github(findings: Sequence[Finding]) -> str:
    """Return workflow commands, a line each."""
    names = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
    lines = [
        workflow_command(
            names[one.level],
            {
                "file": one.file,
                "line": str(one.line),
                "col": str(one.column),
                "endLine": str(max(one.line, one.end_line)),
                "title": one.title,
            },
            one.reasoned,
        )
        for one in findings[:MOST]
    ]
    if len(findings) > MOST:
        more = phrase("finding.more", count=len(findings) - MOST)
        lines.append(workflow_command("warning", {"title": "qps ci"}, more))
    return "".join(f"{line}\n" for line in lines)


def as_gitlab(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return a code quality report: https://docs.gitlab.com/ci/testing/code_quality/."""
    severity = {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTE: "info"}
    return [
        {
            "description": printable(f"{one.title}: {one.reasoned}"),
            "check_name": one.code,
            "fingerprint": mark,
            "severity": severity[one.level],
            "location": {"path": printable(one.file), "lines": {"begin": one.line}},
        }
        for one, mark in _marked(findings)
    ]


def as_sarif(findings: Sequence[Finding]) -> dict[str, object]:
    """Return SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""
    codes = list(dict.fromkeys(one.code for one in findings[:MOST]))
    driver = {"name": "qps", "semanticVersion": __version__, "rules": [_rule(one) for one in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif(one, mark, codes) for one, mark in _marked(findings)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _rule(code: str) -> dict[str, object]:
    """Return the SARIF rule of a kind of finding; GitHub shows summary and help of it."""
    own = _CODES.get(code)
    rule = BY_NAME.get(code)
    if rule is not None:
        summary, fix, page = rule.summary, rule.fix, rule_page(rule)
    elif own is None:
        summary, fix = _OTHERS[code]
        page = fix
    else:
        summary, fix, page = own.summary, " ".join(explained(own).fix), page_of(own)
    return {
        "id": code,
        **({} if own is None else {"name": own.slug}),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": fix, "markdown": page},
    }


def _sarif(one: Finding, mark: str, codes: Sequence[str]) -> dict[str, object]:
    region = {"startLine": one.line, "endLine": max(one.line, one.end_line)}
    if (one.line, one.column) < (one.end_line, one.end_column):  # else it is the whole line
        region |= {"startColumn": one.column, "endColumn": one.end_column}
    artifact = {"uri": quote(os.fsencode(one.file)), "uriBaseId": "%SRCROOT%"}
    suppressed = {"kind": "external", "status": "accepted", "justification": one.accepted}
    return {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "level": one.level.value,
        "message": {"text": printable(f"{one.title}: {one.message}")},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"qps/1": mark},
        # Where one result has them all must, be they empty.
        "suppressions": [] if one.accepted is None else [suppressed],
    }


def _marked(findings: Sequence[Finding]) -> Iterable[tuple[Finding, str]]:
    """Yield findings, each with a mark of its own that stays where lines above it move."""
    counts: dict[tuple[str, ...], int] = {}
    for one in findings[:MOST]:
        key = (one.code, one.file, one.title, one.message)
        count = counts[key] = counts.get(key, 0) + 1
        text = "\0".join((*key, str(count)))
        yield one, sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
