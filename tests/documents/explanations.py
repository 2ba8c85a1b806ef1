"""Examples of explained codes, run: what they print, and docs/errors.md, made of their pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

from documents.docs import ROOT, run
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.code_explanations import (
    CodeExplanation,
    ExampleFile,
    explained,
    page_of,
)
from qps.compiler.diagnostics.diagnostic import Code, Severity

PAGES = ROOT / "compiler" / "diagnostics" / "explanations"
LIST = ROOT / "docs" / "errors.md"


def printed_by(files: Sequence[ExampleFile], command: str, folder: Path) -> str:
    """Write the files of an example into a folder, run its command there, return what it prints."""
    for file in files:
        (folder / file.name).write_text(file.text, encoding=file.encoding)
    return run(command, folder)


def reported_of(code: Code, printed: str) -> str:
    """Return the first diagnostic of a code in what a command has printed, empty for none."""
    whole = rf"^\w+\[{code.id}\].*(?:\n.+)*"
    in_the_answer = rf"^  (?:\S+ )?warning\[{code.id}\].*(?:\n    .*)*"
    found = re.search(f"{whole}|{in_the_answer}", printed, re.MULTILINE)
    return f"{dedent(found[0]).rstrip()}\n" if found else ""


def with_printed(explanation: CodeExplanation, printed: str) -> str:
    """Return the page of a code with what its example really printed."""
    found = reported_of(explanation.code, printed)
    block = f"```console\n$ {explanation.command}\n{found}```\n"
    page = page_of(explanation.code)
    return re.sub(r"```console\n.*?```\n", lambda _: block, page, count=1, flags=re.DOTALL)


def listed() -> str:
    """Return docs/errors.md: every code, what it means, what to do, and where its page is."""
    head = LIST.read_text(encoding="utf-8").partition("| Code |")[0]
    lines = ["| Code | Meaning | Fix |", "|---|---|---|"]
    for code in sorted(codes.ALL, key=lambda code: code.id):
        page = f"../{(PAGES / f'{code.id}.md').relative_to(ROOT)}"
        warns = " (warning)" * (code.severity is Severity.WARNING)
        fix = " ".join(explained(code).fix)
        lines.append(f"| [`{code.id}` {code.slug}]({page}) | {code.summary}{warns} | {fix} |")
    return head + "\n".join(lines) + "\n"


def write_all() -> None:
    """Write what examples print into the pages of all codes, and the list of codes."""
    for code in codes.ALL:
        found = explained(code)
        with TemporaryDirectory() as folder:
            printed = printed_by(found.files, found.command, Path(folder))
        (PAGES / f"{code.id}.md").write_text(with_printed(found, printed), encoding="utf-8")
    LIST.write_text(listed(), encoding="utf-8")
