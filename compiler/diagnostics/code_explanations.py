"""What each code means: why, an example that fails, and the fix.

`explanations/` has a page a code, in Markdown: the one source of `qps explain CODE` and of
docs/errors.md. A page is the title, why in paragraphs, the files of the example (a comment before
one names it, else it is `site.qps`), the command with what it prints of this code, how to fix it
in paragraphs, and the fixed example: what changes in its lines, or a whole file. Tests run both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Code

_NAMED = re.compile(r"<!-- file: (?P<name>\S+?)(?:, (?P<encoding>\S+))? -->")
_EXAMPLE = "site.qps"
_APART = "..."
_PROMPT = "$ "


class ExampleFile(Struct, frozen=True):
    """A file of an example, and how its text is written down: as all texts are, but for one."""

    name: str
    text: str
    encoding: str = "utf-8"


class CodeExplanation(Struct, frozen=True, kw_only=True):
    """A code with its example: `command` prints `printed` of these `files`.

    `change` are the changed lines as a difference, empty where `fixed_files` has a whole file.
    """

    code: Code
    why: tuple[str, ...]
    files: tuple[ExampleFile, ...]
    command: str
    printed: str
    fix: tuple[str, ...]
    change: str
    fixed_files: tuple[ExampleFile, ...]
    fixed_command: str


def page_of(code: Code) -> str:
    """Return the page of a code as it is written."""
    place = files("qps.compiler.diagnostics") / "explanations" / f"{code.id}.md"
    return place.read_text(encoding="utf-8")


def explained(code: Code) -> CodeExplanation:
    """Return what the page of a code says."""
    return read(code, page_of(code))


def read(code: Code, page: str) -> CodeExplanation:
    """Read a page; ValueError where it lacks a part, or changes lines that are not there."""
    title, *parts = _parts(page)
    if title != ("", f"# {code.id} {code.slug}"):
        raise ValueError(f"the page of {code.id} begins with another title: {title[1]}")
    at = next((place for place, (kind, _) in enumerate(parts) if kind == "console"), None)
    if at is None:
        raise ValueError(f"the page of {code.id} runs no command")
    heading, _, printed = parts[at][1].partition("\n")
    shown, fixed = tuple(_files(parts[:at])), tuple(_files(parts[at + 1 :]))
    change = "".join(text for kind, text in parts[at + 1 :] if kind == "diff")
    command = heading.removeprefix(_PROMPT)
    changed_files, fixed_command = changed(shown, command, change)
    whole = {file.name: file for file in fixed}
    return CodeExplanation(
        code=code,
        why=_paragraphs(parts[:at]),
        files=shown,
        command=command,
        printed=printed,
        fix=_paragraphs(parts[at + 1 :]),
        change=change,
        fixed_files=tuple(whole.get(file.name, file) for file in changed_files),
        fixed_command=fixed_command,
    )


def changed(
    shown: Sequence[ExampleFile], command: str, change: str
) -> tuple[tuple[ExampleFile, ...], str]:
    """Return an example with a difference made; ValueError where its lines are not there."""
    texts = {file.name: file.text for file in shown}
    for hunk in _hunks(change):
        before = [line[1:] for line in hunk if not line.startswith("+")]
        after = [line[1:] for line in hunk if not line.startswith("-")]
        if before[:1] == [_PROMPT + command]:
            command = after[0].removeprefix(_PROMPT)
            continue
        found = [name for name, text in texts.items() if _place(text, before) is not None]
        if not before or len(found) != 1:
            raise ValueError(f"these lines do not stand in one file: {before}")
        lines = texts[found[0]].splitlines()
        place = _place(texts[found[0]], before)
        assert place is not None
        lines[place : place + len(before)] = after
        texts[found[0]] = "\n".join(lines) + "\n"
    fixed = (ExampleFile(file.name, texts[file.name]) for file in shown)
    return tuple(fixed), command


def _hunks(change: str) -> Iterator[list[str]]:
    """Yield the parts of a difference that stand apart."""
    hunk: list[str] = []
    for line in change.splitlines():
        if line == _APART:
            yield hunk
            hunk = []
        else:
            hunk.append(line)
    if hunk:
        yield hunk


def _place(text: str, lines: list[str]) -> int | None:
    """Return where lines stand in a text, one behind the other; None where they do not."""
    held = text.splitlines()
    starts = range(len(held) - len(lines) + 1)
    return next((at for at in starts if held[at : at + len(lines)] == lines), None)


def _parts(page: str) -> Iterator[tuple[str, str]]:
    """Yield paragraphs (of no kind) and fenced blocks with their kind."""
    lines: list[str] = []
    kind: str | None = None
    for line in [*page.splitlines(), ""]:
        if kind is not None and line == "```":
            yield kind, "".join(f"{one}\n" for one in lines)
            lines, kind = [], None
        elif kind is None and (not line or line.startswith("```") or _NAMED.fullmatch(line)):
            if lines:
                yield "", " ".join(lines)
            lines, kind = [], line.removeprefix("```") if line.startswith("```") else None
            if line and kind is None:
                yield "file", line
        else:
            lines.append(line)


def _paragraphs(parts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(text for kind, text in parts if not kind)


def _files(parts: Sequence[tuple[str, str]]) -> Iterator[ExampleFile]:
    """Yield the files among the parts of a page, by the names before them."""
    name, encoding = _EXAMPLE, "utf-8"
    for kind, text in parts:
        if kind == "file":
            found = _NAMED.fullmatch(text)
            assert found is not None
            name, encoding = found["name"], found["encoding"] or encoding
        elif kind in ("qps", "csv", "toml"):
            yield ExampleFile(name, text, encoding)
            name, encoding = _EXAMPLE, "utf-8"
