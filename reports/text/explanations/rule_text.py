"""A rule of a review explained: as a terminal shows it, and as plain values."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.project.review_rules import Level, ReviewRule
from qps.reports.text.layout.colors import Tone, toned
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.phrases import phrase

_TONES = {Level.ERROR: Tone.MISS, Level.WARNING: Tone.LIMIT, Level.NOTE: Tone.ANSWER}
_LINES = {"-": Tone.MISS, "+": Tone.ANSWER}


class RuleView(Struct, frozen=True, kw_only=True):
    """Output of `qps explain RULE --format json`; `level` is without a project file."""

    schema: str
    name: str
    level: str
    summary: str
    why: str
    example: str
    fix: str


def rule_view(rule: ReviewRule) -> RuleView:
    """Return a rule as plain values."""
    return RuleView(
        schema="qps/rule/2",
        name=rule.name,
        level=rule.level.value,
        summary=rule.summary,
        why=rule.why,
        example=rule.example,
        fix=rule.fix,
    )


def rule_text(rule: ReviewRule, *, width: int = 80, color: bool = False) -> str:
    """Return what a rule finds, why, a change that it finds, and the fix."""
    tone = _TONES[rule.level]
    lines = [toned(f"{rule.name} ({rule.level.value})", tone, color=color)]
    lines += wrapped(f"{rule.summary[0].upper()}{rule.summary[1:]}.", width)
    lines += ["", *wrapped(rule.why, width), "", toned("example", None, color=color)]
    for line in rule.example.splitlines():
        lines.append(toned(f"  {line}", _LINES.get(line[:1]), color=color))
    lines += ["", *wrapped(rule.fix, width), ""]
    setting = f'[review] {rule.name} = "{rule.level.value}"'
    lines += wrapped(phrase("explain.rule_level", setting=setting), width)
    return "\n".join(lines) + "\n"
