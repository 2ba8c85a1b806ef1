"""The documentation as a test: its specs, its commands and their output.

In a document, `<!-- file: name.qps -->` before a fenced `qps` block names the file that the
commands after it find; a `qps fragment` block only has to parse where it stands alone. Every
`console` block is run and must print what the document says. `python tests/documents/docs.py`
writes the real output into the documents (into those alone that are named behind it), the figures
of specs/README.md and specs/textbook/README.md (`spec_figures`), and the pages of codes with
docs/errors.md (`explanations`).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
WORDS = tuple(
    ROOT / "docs" / page
    for page in ("language/keywords.md", "language/syntax.md", "brief.md", "cli.md")
)
"""The pages that list words of the language."""

_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>[\w./-]+) -->\n)?```(?P<kind>[^\n]*)\n(?P<body>.*?)```", re.DOTALL
)
_TIME = re.compile(r'\btime="[0-9]+\.[0-9]+"')


@dataclass(frozen=True)
class Block:
    """A fenced block: the file it is, its kind, its text, and where that stands."""

    file: str | None
    kind: str
    body: str
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a document."""
    return [
        Block(m["file"], m["kind"].strip(), m["body"], m.start("body"), m.end("body"))
        for m in _BLOCK.finditer(text)
    ]


def commands(body: str) -> Iterator[str]:
    """Yield the commands of a console block."""
    for line in body.splitlines():
        if line.startswith("$ "):
            yield line[2:]


def run(command: str, folder: Path) -> str:
    """Run `qps` or `git` in a folder; return what it prints, and its exit status if not 0."""
    from qps.cli import main

    words = shlex.split(command)
    if words[0] == "git":
        return _git(words, folder)
    assert words[0] == "qps", f"only qps and git can be run: {command}"
    output = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                status = main(words[1:])
            except SystemExit as stop:
                status = int(stop.code or 0)
    finally:
        os.chdir(before)
    text = "\n".join(line.rstrip() for line in output.getvalue().splitlines())
    text = _TIME.sub('time="0.012"', text)  # which differs from run to run
    return text + (f"\n(exit status {status})" if status else "") + "\n"


def _git(words: list[str], folder: Path) -> str:
    """Run git as somebody at a fixed time: so commits have the same names everywhere."""
    moment = "2026-11-23T12:00:00Z"
    own = {
        f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    own |= {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        words, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=True
    )
    return done.stdout


def performed(text: str) -> str:
    """Return a document with the real output in its console blocks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        link_specs(folder)
        parts, last = [], 0
        for block in blocks(text):
            if block.file:
                target = folder / block.file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.body, encoding="utf-8")
            if block.kind == "console":
                printed = [f"$ {c}\n{run(c, folder)}" for c in commands(block.body)]
                parts += [text[last : block.start], "\n".join(printed)]
                last = block.end
        return "".join([*parts, text[last:]])


def link_specs(folder: Path) -> None:
    """Give a folder the specs of this repository."""
    (folder / "specs").symlink_to(ROOT / "specs")


def with_words(text: str) -> str:
    """Return a page of the reference with its lists of words as the grammar has them."""
    from qps.compiler.measurement.observations.measurement_sources import FLAGS, SOURCES
    from qps.compiler.quantities.disciplines import DISCIPLINES
    from qps.grammar import keywords, words

    disciplines = sorted(DISCIPLINES, key="none".__eq__)  # the last one of them
    of_units, of_kinds = words.NO_UNITS, words.NO_KINDS
    lines = {
        "Reserved: ": f"{_marked(words.RESERVED, 'and')}.",
        "Free: ": f"{_marked(keywords.keywords() - words.RESERVED, 'and')}.",
        "- a resource cannot be called ": f"{_marked(words.NO_RESOURCES)}, which are "
        "keywords in a component, machine or target;",
        "- a kind cannot be called ": f"{_marked(of_kinds)}, or have the name of a case; "
        f"a unit cannot be called {_marked(of_units)}, which are keywords after a number;",
        "keywords: `": f"{' '.join(keywords.continuing_words())}`. `measured`,",
        f"{'queueing web.cpu mmc':47}# ": " ".join(disciplines),
    }
    for name, flag in FLAGS.items():
        takers = [one for one in SOURCES.values() if name in one.takes]
        others = [
            f"; {one.name}: {one.window}" for one in takers if name == "window" and one.window
        ]
        lines[f"| `--{name} {flag.metavar}` of "] = (
            f"{', '.join(f'`{one.name}`' for one in takers)} | {flag.help} "
            f"[default: {flag.default}{''.join(others)}] |"
        )
    for start, rest in lines.items():
        pattern = rf"^{re.escape(start)}[^\n]*$"
        text = re.sub(pattern, lambda _, a=start, b=rest: f"{a}{b}", text, flags=re.MULTILINE)
    return text


def _marked(words: frozenset[str], joint: str = "or") -> str:
    *first, last = [f"`{word}`" for word in sorted(words)]
    return f"{', '.join(first)} {joint} {last}"


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for page in WORDS:
        page.write_text(with_words(page.read_text(encoding="utf-8")), encoding="utf-8")
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    for page in chosen or PAGES:
        page.write_text(performed(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{page.relative_to(ROOT)} written")
    if chosen:
        sys.exit()
    from documents import api_reference, explanations, method_page, review_rules, spec_figures
    from qps.reviewing.printed_schemas import schema_files

    for name, schema in schema_files():
        (ROOT / "docs" / "schemas" / name).write_text(schema, encoding="utf-8")

    reference = api_reference.PAGE
    reference.write_text(
        api_reference.written(reference.read_text(encoding="utf-8")), encoding="utf-8"
    )
    print(f"{reference.relative_to(ROOT)} written")
    review_rules.write_all()
    method_page.write_all()
    explanations.write_all()
    print(f"{explanations.LIST.relative_to(ROOT)} and the pages of codes written")

    for page in spec_figures.PAGES:
        page.write_text(spec_figures.written(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{page.relative_to(ROOT)} written")
