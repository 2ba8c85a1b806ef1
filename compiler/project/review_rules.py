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
"""Instead of a level: a rule that is not asked."""

LEVELS = (*(level.value for level in Level), OFF)
"""What a project file may say of a rule, the strictest first."""

_MEASURED = 'expect measured { web.cpu.load ~ 20 % within 2 % with N = 1000; source "load test" }'


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: its name, its level unless a project says otherwise, and its page.

    `example` changes the example's files: lines as in a difference, or commands after `$ `.
    """

    name: str
    level: Level
    summary: str
    why: str
    example: str
    mend: str


EXAMPLE: Mapping[str, str] = {
    "site.qps": f"""\
users N in 1..10000 source "plan for 2027"
param work = 8 ms/request +- 25 % in 1..20 ms/request source "profile of 3 May"
option cache = off
param promised = 1500
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
expect promise "what the contract says" {{ largest_acceptable >= promised; source "contract" }}
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

RULES: tuple[Rule, ...] = (
    Rule(
        name="claim-removed",
        level=Level.ERROR,
        summary="a claim, or an observation, is no longer there",
        why="A claim that is deleted cannot fail any more. A claim that was renamed, laid out "
        "otherwise, moved to another spec, or that another claim implies, is not removed.",
        example=f"-{_MEASURED}",
        mend="Put the claim back. If the spec must fail it for some time, keep it and accept the "
        "failure with a reason and a last day: `[[accept]]` in the project file.",
    ),
    Rule(
        name="claim-loosened",
        level=Level.ERROR,
        summary="a claim promises less than before",
        why="What the claim lets pass now includes all that it let pass before, and more: a bound "
        "moved, a tolerance widened, a relation relaxed (`==` to `<=`), a condition or an "
        "alternative added, a part dropped, a quantile or a probability lowered, no simulation, or "
        "`missed` added. Bounds are compared by value: a parameter that a bound rests on counts.",
        example="-param promised = 1500\n+param promised = 150",
        mend="Restore the bound. If the promise itself has changed, change its `source` as well, "
        "and have the change approved by whom the claim was promised to.",
    ),
    Rule(
        name="claim-changed",
        level=Level.WARNING,
        summary="a claim says something else: neither stricter nor looser",
        why="Another measure, another condition, or a value that moved without a wider tolerance: "
        "the new claim may hold where the old one failed.",
        example=f"-{_MEASURED}\n+{_MEASURED.replace('20', '25')}",
        mend="Check the new claim against its source, as you would a new one.",
    ),
    Rule(
        name="spec-deleted",
        level=Level.ERROR,
        summary="a spec is no longer there",
        why="With the file, all of its claims and requirements are gone. A spec whose claims all "
        "stand in another one now was moved, and a module was no spec: neither is reported.",
        example="$ git rm -q site.qps",
        mend="Put the file back, or move its claims to the spec that takes its place.",
    ),
    Rule(
        name="spec-ignored",
        level=Level.ERROR,
        summary="a spec is still there, and no longer checked",
        why="A new pattern in `ignore` matches it, or it was moved where one does, out of the "
        "paths that `qps ci` is given, or to another ending than `.qps`.",
        example='-ignore = ["old"]\n+ignore = ["old", "site.qps"]',
        mend="Narrow the pattern, or move the file back.",
    ),
    Rule(
        name="source-changed",
        level=Level.WARNING,
        summary="a number and its source no longer changed together",
        why="A number changed under the same source, or a source was changed or removed while the "
        "number stayed: one of them is not what was measured or agreed. So for measured tables.",
        example='-param work = 8 ms/request +- 25 % in 1..20 ms/request source "profile of 3 May"\n'
        '+param work = 7 ms/request +- 25 % in 1..20 ms/request source "profile of 3 May"',
        mend="Cite the new source of the new number, or restore the number.",
    ),
    Rule(
        name="range-narrowed",
        level=Level.WARNING,
        summary="a range or a spread covers less than before",
        why="Fewer users, a narrower range of a parameter, or a number that is more certain than "
        "before: what lies outside is no longer looked at.",
        example='-users N in 1..10000 source "plan for 2027"\n'
        '+users N in 1..500 source "plan for 2027"',
        mend="Restore the range, or say by the source why it is narrower.",
    ),
    Rule(
        name="requirement-loosened",
        level=Level.ERROR,
        summary="a requirement or a planning target asks for less, or is gone",
        why="The capacity rests on requirements: with a laxer limit, a lower quantile or "
        "certainty, a higher target, or with a requirement in some modes only, more users are "
        "supported on paper.",
        example="-require { pages.latency <= 100 ms }\n+require { pages.latency <= 200 ms }",
        mend="Restore the limit. If users accept the new one, say so in its `source`.",
    ),
    Rule(
        name="mode-removed",
        level=Level.ERROR,
        summary="a mode is no longer there",
        why="The capacity is that of the worst mode: without one, its requirements are not asked.",
        example="-mode busy { pages.latency <= 50 ms }",
        mend="Put the mode back, unless nobody works that way any more.",
    ),
    Rule(
        name="scenario-removed",
        level=Level.WARNING,
        summary="a scenario is no longer there",
        why="What was asked of it, by claims, matrices or `--scenario`, is asked no more.",
        example="-scenario sale { work = 10 ms/request }",
        mend="Put the scenario back, or say why it cannot happen any more.",
    ),
    Rule(
        name="matrix-removed",
        level=Level.WARNING,
        summary="a matrix is no longer there",
        why="Its configurations are no longer solved or compared.",
        example="-matrix speeds { work in [ 4, 8, 12 ms/request ] }",
        mend="Put the matrix back.",
    ),
    Rule(
        name="matrix-narrowed",
        level=Level.WARNING,
        summary="a matrix covers fewer configurations",
        why="An axis has lost values, more is excluded, or fewer rows are kept: claims about every "
        "configuration say less.",
        example="-matrix speeds { work in [ 4, 8, 12 ms/request ] }\n"
        "+matrix speeds { work in [ 4, 8 ms/request ] }",
        mend="Restore the values, or say in a note why they cannot occur.",
    ),
    Rule(
        name="accepted-added",
        level=Level.WARNING,
        summary="a failure is newly accepted, or for longer",
        why="A new `[[accept]]` in the project file, or a later `until`: a claim may fail, or a "
        "rule report, and the check passes.",
        example='+[[accept]]\n+file = "site.qps"\n+claim = "promise"\n'
        '+reason = "new servers are ordered"\n+until = 2027-03-31',
        mend="Approve the reason and the day, or mend what fails.",
    ),
    Rule(
        name="warning-allowed",
        level=Level.NOTE,
        summary="a warning is newly allowed",
        why="A new `[[allow]]` in the project file, or a new comment `# allow QPS…` in a spec.",
        example='+[[allow]]\n+code = "QPS0502"\n+file = "site.qps"\n+reason = "read next year"',
        mend="Approve the reason, or mend what is warned of.",
    ),
    Rule(
        name="warnings-not-errors",
        level=Level.ERROR,
        summary="warnings are no longer errors",
        why="`warnings-are-errors` was set and is not any more, in the file that counts for "
        "a spec.",
        example="-warnings-are-errors = true",
        mend="Set it again, and allow single warnings with a reason.",
    ),
    Rule(
        name="rule-relaxed",
        level=Level.ERROR,
        summary="the project file lowers the level of a rule",
        why="The stricter of both project files counts for a change, so this one is still judged "
        "by the old level; later ones will not be.",
        example='-range-narrowed = "error"\n+range-narrowed = "note"',
        mend="Restore the level, or have it approved by the owner of the project file.",
    ),
)
"""All rules, in the order in which they are listed."""

BY_NAME: Mapping[str, Rule] = {rule.name: rule for rule in RULES}


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


def rule_page(rule: Rule) -> str:
    """Return the page of a rule, in Markdown."""
    kind = "console" if rule.example.startswith("$") else "diff"
    return (
        f"# {rule.name}\n\n{rule.summary[0].upper()}{rule.summary[1:]} "
        f"(default level: {rule.level.value}).\n\n{rule.why}\n\n"
        f"```{kind}\n{rule.example}\n```\n\n{rule.mend}\n"
    )
