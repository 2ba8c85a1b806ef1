"""What editors color and read QPS by: made of the grammar, and saying what the parser says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from base64 import b64encode
from pathlib import Path
from pkgutil import resolve_name

import pytest
from pygments import token
from tree_sitter import Parser, Query, QueryCursor

from generators.codemirror import TAGS
from generators.generated_files import EDITORS, made_files, parser_is_stale
from helpers.tree_sitter_parser import language
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.grammar import parsing
from qps.grammar.keywords import keywords
from qps.highlighting import TokenKind, vocabulary
from qps.pygments_lexer import TOKENS, QpsLexer

ROOT = EDITORS.parent
CODE = EDITORS / "vscode"
SNIPPETS = json.loads((CODE / "snippets" / "qps.json").read_text("utf-8"))
GOOD = sorted([*(ROOT / "specs").rglob("*.qps"), *(ROOT / "stdlib").rglob("*.qps")])
BAD = sorted((ROOT / "tests" / "errors").glob("*.qps"))
LENIENT = {"QPS0101_certainty_no_number"}
"""Mistakes that tree-sitter does not see: it cannot look back at what stands before a word."""
READ = ["sfu", "wifi_calls", "problem_solving", "live_stream"]


def test_what_is_made_is_what_the_grammar_makes() -> None:
    stale = [
        name for name, text in made_files().items() if (EDITORS / name).read_text("utf-8") != text
    ]
    assert not stale, "run `python editors/generators`"
    assert not parser_is_stale(), "run `python editors/generators` where tree-sitter is installed"


# -- tree-sitter -------------------------------------------------------------------------


def is_read(text: str) -> bool:
    return not Parser(language()).parse(text.encode()).root_node.has_error


def test_tree_sitter_reads_every_spec() -> None:
    assert len(GOOD) > 60
    assert [path.name for path in GOOD if not is_read(path.read_text("utf-8"))] == []


def test_tree_sitter_and_the_parser_agree_on_the_corpus_of_errors() -> None:
    differ, refused = set(), 0
    for path in BAD:
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        try:
            parsing.parse(text)
        except parsing.UnexpectedError:
            refused += 1
            if is_read(text):
                differ.add(path.stem)
        else:
            assert is_read(text), path.name
    assert differ == LENIENT
    assert refused > 90


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("let load = rate", "(let name: (identifier) (reference (name (identifier))))"),
        (
            "param x = 8 ms +- 10 %\n  * 2",
            """(param name: (identifier) (around
              (quantity (digits) (unit_power (name (identifier))))
              (product (quantity (digits) (unit_power (sign_of_unit))) (number (digits)))))""",
        ),
        (
            "scenario s { limit of web.cpu = 3; a at b = 4 }",
            """(scenario name: (identifier)
              (change (told) (number (digits))) (change (told) (number (digits))))""",
        ),
        (
            "component call { run call * 2; run 3 ms }",
            """(component name: (identifier)
              (run (name (identifier)) (repeat (number (digits))))
              (cost (identifier) (quantity (digits) (unit_power (name (identifier))))))""",
        ),
    ],
)
def test_trees_have_the_nodes_of_the_grammar(text: str, tree: str) -> None:
    result = str(Parser(language()).parse(text.encode()).root_node)
    assert result == f"(source_file {' '.join(tree.split())})"


def test_a_text_of_hostile_length_is_given_up_soon() -> None:
    # What looks ahead stops after so many steps: neither a fault nor a long wait.
    for text in ("call (" + "(" * 20_000, "limit of " + "x " * 20_000, "a\n" + "# x\n" * 20_000):
        Parser(language()).parse(text.encode())


@pytest.mark.parametrize("path", sorted(EDITORS.glob("*/queries/*.scm")), ids=lambda p: p.stem)
def test_queries_find_something(path: Path) -> None:
    tree = Parser(language()).parse((ROOT / "specs" / "sfu.qps").read_bytes())
    query = Query(language(), path.read_text("utf-8"))
    found = QueryCursor(query).captures(tree.root_node)
    assert sum(map(len, found.values())) > 20


# -- colors -----------------------------------------------------------------------------


def colored(text: str) -> list[tuple[int, object, str]]:
    lexer = QpsLexer(stripnl=False, ensurenl=False)
    return list(lexer.get_tokens_unprocessed(text))


def test_pygments_finds_the_lexer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    result = project["entry-points"]["pygments.lexers"]
    assert [resolve_name(place) for place in result.values()] == [QpsLexer]
    assert QpsLexer.filenames == ["*.qps"]


@pytest.mark.parametrize("path", GOOD[::4], ids=lambda path: path.stem)
def test_specs_are_colored_whole(path: Path) -> None:
    found = colored(path.read_text("utf-8"))
    assert "".join(text for _, _, text in found) == path.read_text("utf-8")
    assert not [text for _, kind, text in found if kind is token.Error]


def test_words_are_colored_as_the_parser_reads_them() -> None:
    options = keywords() - {"on", "off", "unicast", "multicast", "quality"}
    right = wrong = 0
    for name in READ:
        text = (ROOT / "specs" / f"{name}.qps").read_text("utf-8")
        kinds = {start: kind for start, kind, _ in colored(text)}
        for word in parsing.parse(text).tokens:
            if word.text in options:
                kind = kinds.get(word.start, token.Text)
                is_word = kind in token.Keyword and kind is not token.Keyword.Type
                right += is_word == (word.type != "NAME")
                wrong += is_word != (word.type != "NAME")
    assert right + wrong > 450
    assert wrong / (right + wrong) < 0.015


_TOKENISE = """
import { readFileSync } from "node:fs";
import { qps } from "data:text/javascript;base64,MODE";
const state = qps.startState();
const told = readFileSync(0, "utf8").split("\\n").map((string) => {
  const stream = { string, pos: 0, next() { return this.string[this.pos++]; } };
  const row = [];
  while (stream.pos < string.length) {
    const start = stream.pos;
    const tag = qps.token(stream, state);
    if (stream.pos === start) throw new Error(string);
    if (tag) row.push([string.slice(start, stream.pos), tag]);
  }
  return row;
});
console.log(JSON.stringify(told.flat()));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("name", READ)
def test_codemirror_colors_as_pygments_does(name: str) -> None:
    text = (ROOT / "specs" / f"{name}.qps").read_text("utf-8") + "\nlet größe_µ = 3 µs\n"
    mode = b64encode((EDITORS / "codemirror" / "qps.js").read_bytes()).decode()
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _TOKENISE.replace("MODE", mode)],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    kinds = {str(TOKENS[kind]): TAGS[kind] for kind in TokenKind}
    ours = [
        [line, kinds[str(kind)]]
        for _, kind, word in colored(text)
        for line in word.split("\n")
        if line and kinds[str(kind)]
    ]
    assert json.loads(done.stdout) == ours


# -- Visual Studio Code ------------------------------------------------------------------


def test_the_extension_has_the_files_that_it_names() -> None:
    named = re.findall(r'"path": "\./([^"]+)"', (CODE / "package.json").read_text("utf-8"))
    assert len(named) == 3
    assert [name for name in named if not (CODE / name).is_file()] == []


def test_the_extension_calls_what_it_declares() -> None:
    code = (CODE / "src" / "extension.mjs").read_text("utf-8")
    commands = re.findall(r'"command": "(qps\.\w+)", "title"', (CODE / "package.json").read_text())
    assert len(commands) == 2
    assert [one for one in commands if f'registerCommand("{one}"' not in code] == []


def chosen(body: str) -> str:
    """Return a snippet as it is where nothing is typed into it."""
    plain = re.sub(r"\$\{(\d+)\|([^,|}]*)[^}]*\}", r"${\1:\2}", body)
    given = dict(re.findall(r"\$\{(\d+):([^}]*)\}", plain))
    return re.sub(r"\$\{(\d+)(?::[^}]*)?\}", lambda found: given[found[1]], plain)


def test_snippets_are_specs() -> None:
    for snippet in SNIPPETS.values():
        parsing.parse(chosen("\n".join(snippet["body"])))
    spec = Source("spec.qps", chosen("\n".join(SNIPPETS["A spec"]["body"])))
    assert check_source(spec).diagnostics == ()


def test_snippets_begin_with_words_of_the_language() -> None:
    prefixes = {snippet["prefix"] for snippet in SNIPPETS.values()}
    assert prefixes - set(vocabulary().declarations) == {"spec"}
