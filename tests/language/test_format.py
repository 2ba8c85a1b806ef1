"""The canonical layout: what it does, and the laws it keeps."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import Drawn, drawn_specs
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.format import formatted
from qps.grammar.parsing import SEPARATOR, ParseTree, Piece, parse

ROOT = Path(__file__).resolve().parents[2]

CASES = {
    "spaces": ("param  a=1ms+2   ms*-3\n", "param a = 1 ms + 2 ms * -3\n"),
    "percent": ("param a = 5%\n", "param a = 5 %\n"),
    "fractions and units": (
        "let a = 3 byte/packet / 2 + N/ 2\n",
        "let a = 3 byte/packet / 2 + N / 2\n",
    ),
    "cases in braces": (
        "param a = average 2 ms,least -1 ms, # how\n largest 3 ms in -1..5 ms\n",
        "param a = {\n  average 2 ms; least -1 ms  # how\n  largest 3 ms\n} in -1..5 ms\n",
    ),
    "cases of kinds in braces": (
        "param a by k {\nI average 2,largest 3\nP 4\nB least 5 }\n",
        "param a by k {\n  I { average 2; largest 3 }\n  P 4\n  B { least 5 }\n}\n",
    ),
    "powers, calls and groups": (
        "let a = max ( b , 2 ^ - 3 )*(c . d - 1)\n",
        "let a = max (b, 2^-3) * (c.d - 1)\n",
    ),
    "a sign behind a word": ("let a = if b then - 1 else -c\n", "let a = if b then -1 else -c\n"),
    "ranges": ("users N in 2 .. 200\n", "users N in 2..200\n"),
    "aligned at `=`": (
        "param a = 1\nparam long = 2\nlet b = 3\n",
        "param a    = 1\nparam long = 2\nlet b = 3\n",
    ),
    "a blank line ends a run": (
        "param a = 1\n\nparam long = 2\n",
        "param a = 1\n\nparam long = 2\n",
    ),
    "machines and links together": (
        "topology {\nnode a = m\nlink lan = net between a\n}\n",
        "topology {\n  node a   = m\n  link lan = net between a\n}\n",
    ),
    "limits": (
        "require {\nv.latency<=230 ms\nv.loss <= 6%\n}\n",
        "require {\n  v.latency <= 230 ms\n  v.loss    <= 6 %\n}\n",
    ),
    "certainty": (
        "require {\nv.latency<=230 ms with 95%  certainty\nv.loss <= 6%with 90 %certainty\n}\n",
        (
            "require {\n  v.latency <= 230 ms with 95 % certainty\n"
            "  v.loss    <= 6 % with 90 % certainty\n}\n"
        ),
    ),
    "spreads": (
        "param a=8 ms+- 1 ms\nlet b=one of[1 ms weight 3,2 ms]\nlet c=2 ms±5%\n",
        "param a = 8 ms +- 1 ms\nlet b = one of [ 1 ms weight 3, 2 ms ]\nlet c = 2 ms ± 5 %\n",
    ),
    "events and alternatives": (
        (
            "stream s in all {\nevent  hit=85%\nat web { hit :a;not  hit:{ b;a }\n"
            "one\t of{hit:a;else :b}; 1.4%:call db{a} }\n}\n"
        ),
        (
            "stream s in all {\n  event hit = 85 %\n  at web {\n"
            "    hit: a; not hit: { b; a }\n"
            "    one of { hit: a; else: b }; 1.4 %: call db { a }\n  }\n}\n"
        ),
    ),
    "changes behind `with` are not aligned": (
        "expect a {\nx == 6 with y = 1\nlonger == 6 with z = 1\n}\n",
        "expect a {\n  x == 6 with y = 1\n  longer == 6 with z = 1\n}\n",
    ),
    "observations of our own": (
        'observe o "a.csv" {\na->b\nsource   model "by hand"\n}\n',
        'observe o "a.csv" {\n  a -> b\n  source model "by hand"\n}\n',
    ),
    "columns of observations": (
        'observe o "a.csv" {\na -> b\n"long, s" in s->c within 5%\n}\n',
        'observe o "a.csv" {\n  a -> b\n  "long, s" in s -> c within 5 %\n}\n',
    ),
    "comments": (
        "#a\nusers N in 1..2# b\n\n\n   # c\nparam x = 1   # d\nparam yy = 2 # e\n",
        "#a\nusers N in 1..2  # b\n\n# c\nparam x  = 1  # d\nparam yy = 2  # e\n",
    ),
    "comments in a block": (
        "machine m {# a\n# b\n\n# c\ncpu 1 core\n# d\n}\n",
        "machine m {  # a\n  # b\n\n  # c\n  cpu 1 core\n  # d\n}\n",
    ),
    "only comments": ("\n\n# a\n\n\n# b", "# a\n\n# b\n"),
    "nothing": ("\n \n", ""),
    "blank lines at the edges": (
        "\n\nmachine m {\n\n  cpu 1 core\n\n}\n\n\n",
        "machine m {\n  cpu 1 core\n}\n",
    ),
    "a block on one line": (
        "component a{cpu 1 ms/packet;;merge;}\n",
        "component a { cpu 1 ms/packet; merge }\n",
    ),
    "blocks on one line, aligned": (
        "scenario a { x = 1 }\nscenario longer { x = 2 }\n",
        "scenario a      { x = 1 }\nscenario longer { x = 2 }\n",
    ),
    "braces of a block on several lines": (
        "machine m { cpu 1 core\nprice 3 $ }\n",
        "machine m {\n  cpu 1 core\n  price 3 $\n}\n",
    ),
    "a line that goes on": (
        "let a = 1 +\n2\nlet b = max(1,\n2)\nlet c = 3\n+ 4\n",
        "let a = 1 +\n  2\nlet b = max(1,\n  2)\nlet c = 3\n  + 4\n",
    ),
    "a doc string stays": (
        '"""A  spec.\n\n  of two   lines """\n"""b"""\nusers N in 1..2\n',
        '"""A  spec.\n\n  of two   lines """\n"""b"""\nusers N in 1..2\n',
    ),
    "steps aligned at `if`": (
        "stream s {\nat h {\na if x\nlonger if y\n}\n}\n",
        "stream s {\n  at h {\n    a      if x\n    longer if y\n  }\n}\n",
    ),
    "a long source behind a block": (
        f'param a = {{ average 1 ms; least 0 ms }}   source "{"x" * 90}"\n',
        f'param a = {{ average 1 ms; least 0 ms }} source "{"x" * 90}"\n',
    ),
    "too long for one line": (
        f'component a {{ cpu 1 ms/packet; source "{"x" * 90}" }}\n',
        f'component a {{\n  cpu 1 ms/packet\n  source "{"x" * 90}"\n}}\n',
    ),
}


def laid_out(text: str) -> str:
    """Return a text in the canonical layout."""
    value = formatted(Source("test.qps", text)).value
    assert value is not None
    return value


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_layout(before: str, after: str) -> None:
    assert laid_out(before) == after
    assert laid_out(after) == after


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("specs/**/*.qps"), *ROOT.glob("stdlib/**/*.qps")]), ids=str
)
def test_our_own_files_are_laid_out(path: Path) -> None:
    text = path.read_text()
    assert laid_out(text) == text


def test_alignment_never_makes_a_line_too_long() -> None:
    text = f'param a = 1 source "{"x" * 75}"\nparam {"l" * 40} = 2\n'
    assert laid_out(text) == text


def messed(spec: Drawn, blanks: list[str]) -> str:
    """Return a spec with other white space between its tokens, and comments at ends of lines."""
    text = spec.text
    pieces: list[str] = []
    end = 0
    for index, token in enumerate(parse(text).tokens):
        between = text[end : token.start]
        blank = blanks[index % len(blanks)]
        if token.type == SEPARATOR:
            pieces.append(["\n", " ; ", "  # c\n", "\n\n# own\n\n"][index % 4])
        else:
            pieces.append((between + blank if between else "") + str(token))
        end = token.end
    return "".join(pieces)


def shape(piece: Piece) -> object:
    """Return a tree without the places in the text."""
    if isinstance(piece, ParseTree):
        return (piece.data, *map(shape, piece.children))
    return piece and (piece.type, piece.text)


@given(drawn_specs(), st.lists(st.sampled_from(["", " ", "\t", "   "]), min_size=1, max_size=7))
def test_formatting_keeps_the_meaning_and_is_idempotent(spec: Drawn, blanks: list[str]) -> None:
    before = messed(spec, blanks)
    once = laid_out(before)
    assert shape(parse(once).tree) == shape(parse(before).tree)
    assert once.count("#") == before.count("#")
    assert laid_out(once) == once
    assert "\n\n\n" not in once


def test_the_command_changes_files_and_keeps_their_mode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.qps"
    path.write_bytes(b"users  N in 1..2\r\n")
    path.chmod(0o640)
    mode = path.stat().st_mode  # of Windows it is another
    (tmp_path / "b.qps").write_text("users N in 1..2\n")
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert path.read_bytes() == b"users  N in 1..2\r\n"
    shown = capsys.readouterr()
    assert shown.out == f"would reformat {path}\n"
    assert shown.err == "1 of 2 specs would be reformatted\n"
    assert main(["fmt", str(tmp_path)]) == 0
    assert path.read_bytes() == b"users N in 1..2\r\n"  # a checkout of Windows stays one
    assert path.stat().st_mode == mode
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a.qps", "b.qps"]
    assert main(["fmt", "--check", str(tmp_path)]) == 0


def test_a_file_with_mistakes_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.qps"
    path.write_text("users  N in\n")
    assert main(["fmt", str(path)]) == 2
    assert path.read_text() == "users  N in\n"
    assert "QPS0101" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "flags", "status", "out"),
    [
        ("let  a = 1\n", [], 0, "let a = 1\n"),
        ("let  a = 1\n", ["--check"], 1, ""),
        ("let a = 1\n", ["--check"], 0, ""),
        ("let a =\n", [], 2, ""),
        ("let  a = 1\r\nlet b = 1\n", [], 0, "let a = 1\r\nlet b = 1\r\n"),
        ("let a = 1\r\n", ["--check"], 0, ""),
        ("let a = 1\nlet b = 1\r\n", ["--check"], 1, ""),
    ],
)
def test_standard_input(
    text: str,
    flags: list[str],
    status: int,
    out: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    assert main(["fmt", *flags, "-"]) == status
    assert capsys.readouterr().out == out


def test_what_programs_read_is_utf_8_wherever_it_is_written() -> None:
    """Under Windows, and where no language is set, terminals have other characters."""
    text = '"""ü → 𝄞"""\r\nlet a = 1\r\n'.encode()
    run = [sys.executable, "-m", "qps", "fmt", "-"]
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for environment in (plain, {"PYTHONIOENCODING": "cp1252"}):
        done = subprocess.run(
            run, input=text, capture_output=True, check=True, env=os.environ | environment
        )
        assert done.stdout == text


def test_standard_input_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "-", "x.qps"]) == 2
    assert "standard input" in capsys.readouterr().err
