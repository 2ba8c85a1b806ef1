"""The grammar: no hidden conflicts, whole words, lines that end and lines that go on."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import lark
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lsprotocol.types import CompletionItemKind, SymbolKind

from documents.docs import blocks
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.rules import RULES, rule_by_fields
from qps.editing.legend import KINDS as LEGEND
from qps.grammar import keywords
from qps.grammar.parsing import END, SEPARATOR, ParseTree, Piece, UnexpectedError
from qps.grammar.parsing import parse as parse_text
from qps.grammar.table_generator import build_parser, grammar_text, tables_text
from qps.grammar.words import RESERVED


def declarations(text: str) -> tuple[ast.Declaration, ...]:
    outcome = parse(Source("spec.qps", text))
    assert outcome.diagnostics == ()
    assert outcome.value is not None
    return outcome.value.declarations


def mistakes(text: str) -> int:
    return len(parse(Source("spec.qps", text)).diagnostics)


def test_the_grammar_has_no_conflict_that_lark_would_settle_silently() -> None:
    build_parser(strict=True)


def test_the_tables_are_those_of_the_grammar() -> None:
    stored = files("qps.grammar").joinpath("tables.json").read_text(encoding="utf-8")
    assert stored == tables_text(), "run `python -m qps.grammar.table_generator`"


# -- what is built is what the tree says -------------------------------------------------------


@cache
def hints_of(kind: type) -> dict[str, object]:
    hints = get_type_hints(kind)
    return {field: hints[field] for field in kind.__struct_fields__}


def fits(value: object, hint: object) -> bool:
    """Return whether a value is of a type, in all of its parts."""
    if not isinstance(value, tuple):
        return is_kind(type(value), hint)
    parts = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if get_origin(hint) is not tuple:
        return is_kind(type(value), hint)
    each = parts[:1] * len(value) if parts[-1] is ... else parts
    return len(each) == len(value) and all(map(fits, value, each))


@cache
def is_kind(kind: type, hint: object) -> bool:
    """Return whether what is no tuple is of a type."""
    if get_origin(hint) in (Union, UnionType):
        return any(is_kind(kind, part) for part in get_args(hint))
    if get_origin(hint) is tuple:
        return False
    assert isinstance(hint, type)
    return issubclass(kind, hint)


COMPILER = Path(__file__).parents[2] / "compiler"


def nodes(part: object) -> Iterator[ast.Written]:
    if isinstance(part, tuple):
        for inner in part:
            yield from nodes(inner)
    if isinstance(part, ast.Written):
        yield part
        for field in part.__struct_fields__:
            yield from nodes(getattr(part, field))


def _reference() -> list[str]:
    """Return the examples of the reference, which shows each declaration."""
    pages = sorted((COMPILER.parent / "docs" / "language").glob("*.md"))
    found = (block for page in pages for block in blocks(page.read_text(encoding="utf-8")))
    return [block.body for block in found if block.kind in ("qps", "qps fragment")]


def test_every_node_has_parts_of_the_types_that_it_states() -> None:
    """The builder goes by a table, which mypy does not look into."""
    examples = Path(__file__).parents[1] / "errors"
    found = (path.read_text(errors="replace") for path in sorted(examples.glob("*.qps")))
    texts = [*TEXTS, *found, *_reference()]
    built: set[type] = set()
    for text in texts:
        module = parse(Source("spec.qps", text)).value
        assert module is not None
        for node in nodes(module.declarations):
            built.add(type(node))
            for field, hint in hints_of(type(node)).items():
                assert fits(getattr(node, field), hint), (node, field)
    nowhere = {ast.Written, ast.Declaration, ast.Named, ast.Shared}
    every = {kind for kind in vars(ast).values() if isinstance(kind, type)}
    missing = {kind for kind in every if issubclass(kind, ast.Written)} - nowhere - built
    assert not missing, "give an example in docs/language, or in tests/errors"


def trees_of(body: str, name: str) -> set[str]:
    """Return what the trees of a rule are called."""
    aliases = (re.search(r"-> (\w+)", way) for way in body.split(" | "))
    return {alias[1] if alias else name for alias in aliases}


def test_a_rule_knows_all_that_may_stand_in_its_braces() -> None:
    text = re.sub(r"\n +\|", " |", re.sub(r" *//.*", "", grammar_text()))
    bodies = dict(re.findall(r"^\??(\w+): *(.*)$", text, re.MULTILINE))
    blocks = {
        name: found[0]
        for name, body in bodies.items()
        if name.startswith("_") and "{" in body and (found := re.search(r"_\w+_item", body))
    }  # parts of those that hold them
    for rule, body in bodies.items():
        for way in body.split(" | "):
            items = re.search(
                r"_\w+_item", re.sub(r"\w+", lambda one: blocks.get(one[0], one[0]), way)
            )
            if items is None or rule in (*blocks, "start", "topology", "stream"):
                continue
            names = [
                part
                for name in bodies[items[0]].split(" | ")
                for part in (re.findall(r"\w+", bodies[name]) if name[0] == "_" else [name])
            ]
            kinds = {kind for name in names for kind in trees_of(bodies[name], name)}
            (built,) = trees_of(way, rule)
            assert kinds <= RULES[built].items.keys(), built


# -- what is read is what lark reads -----------------------------------------------------------

TEXTS = [
    file.read_text(encoding="utf-8")
    for folder in ("qps.specs", "qps.stdlib", "qps.stdlib.claypool1997")
    for file in sorted(files(folder).iterdir(), key=lambda file: file.name)
    if file.name.endswith((".qps", ".qps.txt"))
]
TEXTS.append(
    "stream s { traffic 1 request/s; at a { w; call b over l, k * 2, sends 1 kB/request if x == y { "
    "w; call c, returns 2 kB/request { } }; together { call b { w }; call c * 20 % { call } }; "
    "call to others; together } }"
)
TEXTS.append(
    "correlation a, b = 0.8\nparam a = 8 ms +- 10 %\nparam b = 8 ± 1 ms\nparam c = between 1 ms and 2 ms\n"
    'param d = one of [1 weight 2, 3]\nparam e = samples "x.csv" a * 1 ms\n'
    'param f = samples "x.csv" "b c"\nunit weight of rating\nmachine m { cpu 4 weight }\n'
)
PARTS = [part for text in TEXTS for part in re.split(r"\n(?=\w)", text)]
WORDS = re.compile(r"\w+|[^\w\s]|\s+")
ODD = [*'\0§"#=.-;{}([\n', '"""', "==", "..", "->", "3e", "1_0", "no configuration", "größe"]
ODD += ["fit", "rate", "load", "link", "least", "missed"]  # words, some of them in places alone


IGNORED = {"_CONTINUATION", "SPACE", "COMMENT"}


@cache
def of_lark() -> lark.Lark:
    return build_parser()


def seen(piece: Piece) -> object:
    if isinstance(piece, ParseTree):
        return (piece.data, piece.start, piece.end, *map(seen, piece.children))
    return piece and (piece.type, piece.text, piece.start, piece.end)


def seen_by_lark(piece: lark.Tree[lark.Token] | lark.Token | None) -> object:
    if isinstance(piece, lark.Tree):
        place = (-1, -1) if piece.meta.empty else (piece.meta.start_pos, piece.meta.end_pos)
        return (piece.data, *place, *map(seen_by_lark, piece.children))
    return piece and (piece.type, str(piece), piece.start_pos, piece.end_pos)


def read(text: str) -> object:
    try:
        return seen(parse_text(text).tree)
    except UnexpectedError as error:
        token = error.token
        is_end = token is not None and token.type == END
        stretch = token and (token.start, token.end)
        return error.expected, is_end, None if is_end else stretch or error.position


def read_by_lark(text: str) -> object:
    try:
        return seen_by_lark(of_lark().parse(text, start="start"))
    except UnexpectedCharacters as error:
        return frozenset(error.allowed) - IGNORED, False, error.pos_in_stream
    except UnexpectedToken as error:
        is_end = error.token.type == "$END"
        place = None if is_end else (error.token.start_pos, error.token.end_pos)
        return frozenset(error.accepts or error.expected) - IGNORED, is_end, place


@pytest.mark.parametrize("text", ["", "\n", ";", "# c", *TEXTS[-2:]])
def test_short_texts_are_read_as_lark_reads_them(text: str) -> None:
    assert read(text) == read_by_lark(text)


@pytest.mark.parametrize("text", TEXTS[:-2])
def test_specs_are_read_as_lark_reads_them(text: str) -> None:
    assert read(text) == read_by_lark(text)


@given(st.sampled_from(PARTS), st.data())
def test_broken_declarations_are_read_as_lark_reads_them(text: str, data: st.DataObject) -> None:
    words = WORDS.findall(text) or [""]
    at = data.draw(st.integers(0, len(words) - 1))
    put = data.draw(st.sampled_from(ODD) | st.sampled_from(words))
    words[at : at + data.draw(st.integers(0, 1))] = data.draw(st.sampled_from([[], [put]]))
    broken = "".join(words)
    assert read(broken) == read_by_lark(broken)


def test_a_stretch_of_a_text_ends_where_it_ends() -> None:
    text = "param a = 3\n+ 4\nparam b = 5"
    assert parse_text(text, 0, 11).tree.end == 11
    assert parse_text(text, 16).tokens[0].start == 16
    assert [token.type for token in parse_text(text).tokens].count(SEPARATOR) == 1


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
        "param a = 3\n# unit dozen { was }\nparam b = 4",
        "component a { cpu 1\n# disk 2 }\nnetwork 3 # } or so\n}\nparam b = 4",
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
        ("1 / 3 ms", "(1 / 3 * ms)"),
        ("1 / (3 ms)", "(1 / [3 ms])"),
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


def test_few_words_are_reserved() -> None:
    # One more takes a name from whoever writes a spec: let the lexer look ahead, as at `_RUN`.
    assert len(RESERVED) <= 16


_WORDS = {
    "defaults": "costs",
    "user_group": "group",
    "planned_load": "target",
    "waiting": "queueing",
    "autoscaler": "autoscale",
    "retrying": "retry",
}


def test_what_starts_a_declaration_is_what_the_grammar_says() -> None:
    rule = re.search(r"_declaration: (.*?)\n\n", grammar_text(), re.DOTALL)
    assert rule is not None
    names = re.findall(r"\w+", rule[1])
    for name in names:
        assert RULES.get(name) or rule_by_fields(name)
    named = {_WORDS.get(name, name) for name in names}
    assert named == set(keywords.declarations())


CHECKS = [
    *(COMPILER / "check").rglob("*.py"),
    *(path for path in (COMPILER / "syntax").glob("*.py") if path.name != "rules.py"),
]
DECLARED = [
    kind
    for kind in ast.declaration_kinds()
    if kind.__module__.startswith(ast.__name__) and kind not in (ast.Named, ast.Shared)
]


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.__name__)
def test_a_declaration_has_all_that_belongs_to_it(kind: type[ast.Declaration]) -> None:
    if issubclass(kind, ast.Named):
        assert kind in ast.named_kinds(), "give it a `presentation`, by which editors show it"
        presentation = kind.presentation
        assert presentation.symbol_kind in SymbolKind.__members__
        assert presentation.color in LEGEND
        assert (
            not presentation.completion_kind
            or presentation.completion_kind in CompletionItemKind.__members__
        )
    read = "".join(path.read_text(encoding="utf-8") for path in CHECKS)
    assert re.search(rf"ast\.{kind.__name__}\b", read), "say what it means, in compiler/check"


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


def test_a_mistake_elsewhere_cuts_no_block_where_a_name_is_a_word_that_declares() -> None:
    text = (
        "param users = 3\nrequire {\nusers <= 3\nstream.latency <= 3 ms\n}\n"
        "scenario option {\nmode = 4\nusers = 5\n}\nmatrix m {\nmode in [1, 2]\n}\n"
        "let sum = (\nusers + 3)\nparam x = 3 ms ms\nparam b = 4"
    )
    outcome = parse(Source("spec.qps", text))
    assert [d.primary.span.line for d in outcome.diagnostics if d.primary] == [15]
    assert outcome.value is not None
    assert len(outcome.value.declarations) == 6
