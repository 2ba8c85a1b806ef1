"""The grammar: no hidden conflicts, whole words, lines that end and lines that go on."""

from __future__ import annotations

import re

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse
from qps.grammar import build_parser, grammar_text
from qps.grammar.words import DECLARATIONS, RESERVED


def declarations(text: str) -> tuple[ast.Declaration, ...]:
    outcome = parse(Source("spec.qps", text))
    assert outcome.diagnostics == ()
    assert outcome.value is not None
    return outcome.value.declarations


def mistakes(text: str) -> int:
    return len(parse(Source("spec.qps", text)).diagnostics)


def test_the_grammar_has_no_conflict_that_lark_would_settle_silently() -> None:
    build_parser(strict=True)


def test_the_tables_that_are_kept_parse_as_those_computed_anew() -> None:
    text = "users N in 2..9\nparam a = 3 ms + 4 ms * 2\n"
    parser = build_parser()
    assert parser.parse(text, start="start") == build_parser().parse(text, start="start")


@pytest.mark.parametrize(
    "text",
    ["paramx = 3", "param a = 3 in1..2", "option a = on orb", "component c { mergex }",
     'param a = 3 sourc"x"', "expect a { b withc = 3 }"],
)  # fmt: skip
def test_keywords_are_whole_words(text: str) -> None:
    assert mistakes(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "param a = 3 +\n  4",
        "param a = 3\n  + 4",
        "param a = (3\n + 4\n)",
        "param a = 3 # a comment\n  * 4",
        "param a = 3\n\n\n# between\n\n  / 4",
        "option a = x\n  or y",
        "param a = if b\n then 3\n else 4",
        "param a = f(1,\n 2)",
    ],
)
def test_lines_that_go_on(text: str) -> None:
    assert len(declarations(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "param a = 3\nparam b = 4",
        "param a = 3; param b = 4",
        "param a = 3;;\n;param b = 4;",
        "\n\n# start\nparam a = 3\n\n# middle\n\nparam b = 4\n# end",
        "param a = 3\r\nparam b = 4\r\n",
        "\tparam a = 3\n\tparam b = 4",
    ],
)
def test_statements_that_end(text: str) -> None:
    assert len(declarations(text)) == 2


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "   ", ";"])
def test_a_file_may_be_empty(text: str) -> None:
    assert declarations(text) == ()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("1 / 3 ms", "(1 / [3 ms])"),
        ("1 + 2 * 3 ^ 2", "(1 + (2 * (3 ^ 2)))"),
        ("-2 ^ 2", "-((2 ^ 2))"),
        ("3 ms^2", "[3 (ms ^ 2)]"),
        ("a - b - c", "(a - b - c)"),
        ("0.21 ms/packet", "([0.21 ms] / packet)"),
        ("a < b <= c", "(a < b <= c)"),
        ("not a and b or c", "((not(a) and b) or c)"),
        ("5.25e-3", "0.00525"),
        ("800_000", "800000"),
        ("50 %", "[50 %]"),
        ("2 $/hour", "([2 $] / hour)"),
    ],
)
def test_how_tightly_operators_bind(text: str, meaning: str) -> None:
    (param,) = declarations(f"param a = {text}")
    assert isinstance(param, ast.Param)
    assert shown(param.value) == meaning


def shown(expr: ast.Expr) -> str:
    """Return an expression with all its brackets."""
    match expr:
        case ast.Number(value=value):
            return str(int(value)) if value.denominator == 1 else str(float(value))
        case ast.Reference(name=name):
            return name.text
        case ast.Quantity(number=number, unit=unit):
            return f"[{shown(number)} {shown(unit)}]"
        case ast.Negative(operand=operand):
            return f"-({shown(operand)})"
        case ast.Sum(terms=parts) | ast.Product(factors=parts):
            marks = ("+", "-") if isinstance(expr, ast.Sum) else ("*", "/")
            first, *rest = parts
            tail = "".join(f" {marks[flag]} {shown(part)}" for flag, part in rest)
            return f"({shown(first[1])}{tail})"
        case ast.Power(base=base, exponent=exponent):
            return f"({shown(base)} ^ {shown(exponent)})"
        case ast.Comparison(operands=operands, operators=operators):
            tail = "".join(f" {o} {shown(v)}" for o, v in zip(operators, operands[1:], strict=True))
            return f"({shown(operands[0])}{tail})"
        case ast.Junction(operator=operator, operands=operands):
            return "(" + f" {operator} ".join(shown(o) for o in operands) + ")"
        case ast.Not(operand=operand):
            return f"not({shown(operand)})"
    raise AssertionError(expr)


def test_doc_strings_belong_to_what_follows_and_the_first_one_to_the_file() -> None:
    outcome = parse(Source("s", '"""The file."""\nparam a = 1\n"""A b,\n  told."""\nparam b = 2'))
    assert outcome.value is not None
    assert outcome.value.doc == "The file."
    assert [d.doc for d in outcome.value.declarations] == [None, "A b,\ntold."]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_cannot_be_names(word: str) -> None:
    assert mistakes(f"param {word} = 3") == 1


_WORDS = {"defaults": "costs", "user_group": "group", "planned_load": "target"}


def test_what_starts_a_declaration_is_what_the_grammar_says() -> None:
    rule = re.search(r"_declaration: (.*?)\n\n", grammar_text(), re.DOTALL)
    assert rule is not None
    named = {_WORDS.get(name, name) for name in re.findall(r"\w+", rule[1])}
    assert named == set(DECLARATIONS)


def test_a_mistake_hides_no_other_and_no_good_declaration() -> None:
    text = (
        "param a = 3 3\nparam b = 4\nparam c = )\nparam d = 5\nmachine m { cpu 3 core\nparam e = 6"
    )
    outcome = parse(Source("spec.qps", text))
    assert [d.primary.span.line for d in outcome.diagnostics if d.primary] == [1, 3, 5]
    assert outcome.value is not None
    names = [d.name.text for d in outcome.value.declarations if isinstance(d, ast.Param)]
    assert names == ["b", "d", "e"]


def test_spans_cover_what_they_are_of() -> None:
    text = "param größe = 3 ms + 4 ms   # 🙂\nparam b = größe * 2\n"
    first, second = declarations(text)
    assert isinstance(first, ast.Param)
    assert isinstance(second, ast.Param)
    assert first.value.span.text == "3 ms + 4 ms"
    assert first.name.span.text == "größe"
    assert second.value.span.text == "größe * 2"
    assert second.value.span.line == 2
