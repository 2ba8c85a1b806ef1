"""`qps explain CODE`: why a diagnostic is reported, a failing example, and the fix; or a rule."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path

from msgspec import to_builtins

from qps.commands.terminal.console import Exit, complain, print_json, wants_color, width_of
from qps.commands.terminal.output import style
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.code_explanations import explained, page_of
from qps.compiler.diagnostics.diagnostic import Code, QpsError
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.project.review_rules import BY_NAME, ReviewRule, rule_page
from qps.reports.text.explanations.code_text import explained_json, explained_text
from qps.reports.text.explanations.rule_text import rule_text, rule_view
from qps.reports.text.words.phrases import phrase

_NUMBER = re.compile(r"(?:qps)?0*(\d{1,6})", re.IGNORECASE)
_FEW = 3
_GROUP = 100


def explain_code(word: str, arguments: Namespace) -> Exit:
    """Tell what a code is for, by its number (`QPS0301`, `301`) or its name; or a rule."""
    rule = BY_NAME.get(word.lower())
    if rule is not None:
        return _explain_rule(rule, arguments)
    code = _code(word)
    if arguments.format == "json":
        print_json(explained_json(explained(code)))
    elif arguments.format == "markdown":
        sys.stdout.write(page_of(code))
    else:
        color = wants_color(arguments.color, sys.stdout)
        text = explained_text(explained(code), width=width_of(sys.stdout), color=color)
        style(sys.stdout, text)
    return Exit.YES


def _explain_rule(rule: ReviewRule, arguments: Namespace) -> Exit:
    """Tell what a rule of a review finds."""
    if arguments.format == "json":
        print_json(to_builtins(rule_view(rule)))
    elif arguments.format == "markdown":
        sys.stdout.write(rule_page(rule))
    else:
        color = wants_color(arguments.color, sys.stdout)
        style(sys.stdout, rule_text(rule, width=width_of(sys.stdout), color=color))
    return Exit.YES


def _code(word: str) -> Code:
    """Return the code that is meant; a complaint that offers near ones where there is none."""
    if word.lower() in codes.FORMER_SLUGS:
        return codes.FORMER_SLUGS[word.lower()]
    number = _NUMBER.fullmatch(word)
    for code in codes.ALL:
        if word.lower() == code.slug or (number and int(number[1]) == _number(code)):
            return code
    if number:
        raise complain(f"unknown error code `{word}`", _neighboring_codes(int(number[1])))
    names = [*(code.slug for code in codes.ALL), *BY_NAME]
    name = closest(word.lower(), names, similarity=0.7)
    if name is not None and not Path(word).exists():
        raise complain(f"unknown error code `{word}`", f"did you mean `{name}`?")
    raise _nothing_named(word)


def _neighboring_codes(number: int) -> str:
    """Return a hint with the codes of the same group that are next to a number."""
    group = [code for code in codes.ALL if _number(code) // _GROUP == number // _GROUP]
    near = sorted(group, key=lambda code: abs(_number(code) - number))[:_FEW]
    lines = [f"`{code.id}`: {code.summary}" for code in sorted(near, key=_number)]
    return "; ".join(lines) or phrase("command.all_codes")


def _number(code: Code) -> int:
    return int(code.id.removeprefix("QPS"))


def _nothing_named(word: str) -> QpsError:
    return complain(
        "`qps explain` needs a name or a code",
        f"name a resource, measure or parameter (`qps explain {word} web.cpu`), show the queueing "
        f"network (`qps explain --network {word}`), or look up a code (`qps explain QPS0301`)",
    )
