"""The rules of a review: what a change may make weaker, so that what was red turns green.

Each has a name, a level that a project file may set, and a page: `qps explain claim-loosened`.
An example is a change of the two files below, as a difference of lines or as a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


OFF = "off"
"""Instead of a level: a rule that is not applied."""

LEVELS = (*(level.value for level in Level), OFF)
"""What a project file may say of a rule, the strictest first."""

_MEASURED = (
    'expect measured { web.cpu.utilization ~ 20 % within 2 % with N = 1000; source "load test" }'
)


class ReviewRule(Struct, frozen=True, kw_only=True):
    """A rule: its name, its level unless a project says otherwise, and its page.

    `example` changes the example's files: lines as in a difference, or commands after `$ `.
    """

    name: str
    level: Level
    summary: str
    why: str
    example: str
    fix: str


EXAMPLE: Mapping[str, str] = {
    "site.qps": f"""\
users N in 1..10000 source "2027 plan"
param work = 8 ms/request +- 25 % in 1..20 ms/request source "profile, May 3"
option cache = off
param contracted = 1500
machine server {{ cpu 4 core }}
component page {{ cpu work }}
topology {{ node web = server }}
stream pages {{ traffic N * 0.1 request/s; at web {{ page }} }}
queueing cpu mmc
target cpu 75 %
require {{ pages.latency <= 100 ms }}
mode busy {{ pages.latency <= 50 ms }}
mode calm {{ work = 6 ms/request }}
scenario sale {{ work = 10 ms/request }}
matrix speeds {{ work in [ 4, 8, 12 ms/request ] }}
expect contract "1,500 users by contract" {{ capacity >= contracted; source "contract" }}
{_MEASURED}
""",
    "qps.toml": """\
ignore = ["old"]
warnings-are-errors = true

[review]
range-narrowed = "error"
""",
}
"""The files that examples change."""

RULES: tuple[ReviewRule, ...] = (
    ReviewRule(
        name="claim-removed",
        level=Level.ERROR,
        summary="a claim or an observation was removed",
        why="A deleted claim can no longer fail. Claims that were renamed, reformatted or moved to "
        "another spec do not count as removed, nor do claims that another claim implies.",
        example=f"-{_MEASURED}",
        fix="Restore the claim. If the spec cannot meet it for now, keep it and accept "
        "the failure with a reason and an expiration date: `[[accept]]` in the project file.",
    ),
    ReviewRule(
        name="claim-loosened",
        level=Level.ERROR,
        summary="a claim was weakened",
        why="The claim now passes in more cases than before. For example, a bound or a tolerance "
        "was relaxed, `==` was changed to `<=`, a condition or an alternative was added, a "
        "part was removed, a percentile or a probability was lowered, `simulated` was "
        "removed, or `missed` was added. Bounds are compared by value, including the "
        "parameters that they use.",
        example="-param contracted = 1500\n+param contracted = 150",
        fix="Restore the bound. If the requirement itself has changed, change its `source` "
        "as well, and have its owner approve the change.",
    ),
    ReviewRule(
        name="claim-changed",
        level=Level.WARNING,
        summary="a claim changed, and is neither stricter nor weaker",
        why="The claim has a different measure, condition or value, but not a wider tolerance. The "
        "new claim may pass in cases in which the old one failed.",
        example=f"-{_MEASURED}\n+{_MEASURED.replace('20', '25')}",
        fix="Verify the new claim against its source, like any new claim.",
    ),
    ReviewRule(
        name="spec-deleted",
        level=Level.ERROR,
        summary="a spec was removed",
        why="All of its claims and requirements are gone. Modules are not reported, nor are specs "
        "whose claims have all moved to another spec.",
        example="$ git rm -q site.qps",
        fix="Restore the file, or move its claims to the spec that replaces it.",
    ),
    ReviewRule(
        name="spec-ignored",
        level=Level.ERROR,
        summary="a spec exists but is no longer checked",
        why="A new pattern in `ignore` matches the spec, or the spec was moved to an ignored path, "
        "moved out of the paths that `qps ci` checks, or renamed to another file extension.",
        example='-ignore = ["old"]\n+ignore = ["old", "site.qps"]',
        fix="Narrow the pattern, or move the file back.",
    ),
    ReviewRule(
        name="source-changed",
        level=Level.WARNING,
        summary="a number or its source changed without the other",
        why="A number was changed without its source, or a source was changed or removed without "
        "its number, so the two may no longer match. The same applies to measured tables.",
        example='-param work = 8 ms/request +- 25 % in 1..20 ms/request source "profile, May 3"\n'
        '+param work = 7 ms/request +- 25 % in 1..20 ms/request source "profile, May 3"',
        fix="Cite the source of the new number, or restore the number.",
    ),
    ReviewRule(
        name="range-narrowed",
        level=Level.WARNING,
        summary="a range or an uncertainty was narrowed",
        why="The range of the population or of a parameter is narrower, or an uncertainty is "
        "smaller. Values outside the new range are no longer checked.",
        example='-users N in 1..10000 source "2027 plan"\n+users N in 1..500 source "2027 plan"',
        fix="Restore the range, or give the reason in the source.",
    ),
    ReviewRule(
        name="requirement-loosened",
        level=Level.ERROR,
        summary="a requirement or a target was weakened or removed",
        why="With a weaker limit, a lower percentile or confidence, a higher target, or a "
        "requirement in fewer modes, the capacity rises without any change to the system.",
        example="-require { pages.latency <= 100 ms }\n+require { pages.latency <= 200 ms }",
        fix="Restore the limit. If users accept the new one, document this in its `source`.",
    ),
    ReviewRule(
        name="mode-removed",
        level=Level.ERROR,
        summary="a mode was removed",
        why="The capacity of a spec is the capacity in its worst mode. Without the mode, its "
        "requirements are not checked.",
        example="-mode busy { pages.latency <= 50 ms }",
        fix="Restore the mode, unless it is no longer used.",
    ),
    ReviewRule(
        name="scenario-removed",
        level=Level.WARNING,
        summary="a scenario was removed",
        why="Claims, matrices and `--scenario` no longer cover the scenario.",
        example="-scenario sale { work = 10 ms/request }",
        fix="Restore the scenario, or explain why it can no longer happen.",
    ),
    ReviewRule(
        name="matrix-removed",
        level=Level.WARNING,
        summary="a matrix was removed",
        why="Its configurations are no longer solved or compared.",
        example="-matrix speeds { work in [ 4, 8, 12 ms/request ] }",
        fix="Restore the matrix.",
    ),
    ReviewRule(
        name="matrix-narrowed",
        level=Level.WARNING,
        summary="a matrix covers fewer configurations",
        why="An axis has fewer values, or conditions exclude more configurations. Claims about "
        "every configuration then cover less.",
        example="-matrix speeds { work in [ 4, 8, 12 ms/request ] }\n"
        "+matrix speeds { work in [ 4, 8 ms/request ] }",
        fix="Restore the values, or explain in a note why they cannot occur.",
    ),
    ReviewRule(
        name="accepted-added",
        level=Level.WARNING,
        summary="a failure is newly accepted, or accepted for longer",
        why="The project file contains a new `[[accept]]` entry, or a later `until` date. The "
        "check then passes although a claim fails or a rule is violated.",
        example='+[[accept]]\n+file = "site.qps"\n+claim = "contract"\n'
        '+reason = "new servers are ordered"\n+until = 2027-03-31',
        fix="Approve the reason and the date, or fix the failure.",
    ),
    ReviewRule(
        name="warning-allowed",
        level=Level.NOTE,
        summary="a warning is newly allowed",
        why="The project file contains a new `[[allow]]` entry, or a spec contains a new comment "
        "`# allow QPS…`.",
        example='+[[allow]]\n+code = "QPS0502"\n+file = "site.qps"\n'
        '+reason = "measurement planned for May"',
        fix="Approve the reason, or fix the cause of the warning.",
    ),
    ReviewRule(
        name="warnings-not-errors",
        level=Level.ERROR,
        summary="warnings are no longer errors",
        why="The project file no longer sets `warnings-are-errors`.",
        example="-warnings-are-errors = true",
        fix="Set the option again, and allow individual warnings with a reason.",
    ),
    ReviewRule(
        name="rule-relaxed",
        level=Level.ERROR,
        summary="the project file lowers the level of a rule",
        why="The stricter of the old and the new level applies to a change, so this change is "
        "still checked at the old level, but later changes are not.",
        example='-range-narrowed = "error"\n+range-narrowed = "note"',
        fix="Restore the level, or have the owner of the project file approve it.",
    ),
)
"""All rules, in the order in which they are listed."""

BY_NAME: Mapping[str, ReviewRule] = {rule.name: rule for rule in RULES}


ACCEPTABLE: tuple[str, ...] = tuple(
    rule.name
    for rule in RULES
    if rule.name not in ("accepted-added", "warning-allowed", "warnings-not-errors", "rule-relaxed")
)
"""What a project file may accept until a day: not what it says itself."""


def stricter(one: str, other: str) -> str:
    """Return the stricter of two levels.

    >>> stricter("note", "warning"), stricter("off", "note")
    ('warning', 'note')
    """
    return min(one, other, key=LEVELS.index)


def rule_page(rule: ReviewRule) -> str:
    """Return the page of a rule, in Markdown."""
    kind = "console" if rule.example.startswith("$") else "diff"
    return (
        f"# {rule.name}\n\n{rule.summary[0].upper()}{rule.summary[1:]} "
        f"(default level: {rule.level.value}).\n\n{rule.why}\n\n"
        f"```{kind}\n{rule.example}\n```\n\n{rule.fix}\n"
    )
