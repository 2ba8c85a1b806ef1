"""Examples of the rules of a review, run in a repository: the list in docs/ci.md, docs/rules.md."""

from __future__ import annotations

import json
from itertools import dropwhile
from pathlib import Path
from tempfile import TemporaryDirectory

from documents.docs import ROOT, run
from qps.compiler.diagnostics.code_explanations import ExampleFile, changed
from qps.compiler.project.review_rules import EXAMPLE, RULES, ReviewRule

LIST = ROOT / "docs" / "ci.md"
PAGE = ROOT / "docs" / "rules.md"
_BEGIN = "| rule | default | reports |\n|---|---|---|\n"


def example_repository(folder: Path) -> None:
    """Put the files that examples change into a new repository, laid out, and commit them."""
    for name, text in EXAMPLE.items():
        (folder / name).write_text(text, encoding="utf-8")
    for command in ("git init -q -b main", "git add .", "git commit -qm example"):
        run(command, folder)


def make_change(rule: ReviewRule, folder: Path) -> None:
    """Make the change of an example."""
    if rule.example.startswith("$ "):
        for line in rule.example.splitlines():
            run(line.removeprefix("$ "), folder)
        return
    lines = rule.example.splitlines()
    if any(line.startswith("-") for line in lines):
        files = [ExampleFile(name, text) for name, text in EXAMPLE.items()]
        for file in changed(files, "", rule.example)[0]:
            (folder / file.name).write_text(file.text, encoding="utf-8")
        return
    added = "".join(f"{line.removeprefix('+')}\n" for line in lines)
    with (folder / "qps.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{added}")


def found_by(rule: ReviewRule, folder: Path) -> list[dict[str, object]]:
    """Return what `qps ci` finds in the example of a rule, by any rule."""
    example_repository(folder)
    make_change(rule, folder)
    printed = run("qps ci -q --base HEAD --format json .", folder)
    findings = json.loads(printed.partition("\n(exit status")[0])["findings"]
    names = {one.name for one in RULES}
    return [one for one in findings if one["code"] in names]


def listed() -> str:
    """Return the table of rules."""
    rows = (
        f"| [`{rule.name}`](rules.md#{rule.name}) | {rule.level.value} | {rule.summary} |\n"
        for rule in RULES
    )
    return _BEGIN + "".join(rows)


def with_list(text: str) -> str:
    """Return docs/ci.md with the table of rules as the code has it."""
    before, _, rest = text.partition(_BEGIN)
    lines = rest.splitlines(keepends=True)
    after = "".join(dropwhile(lambda line: line.startswith("|"), lines))
    return before + listed() + after


def page() -> str:
    """Return docs/rules.md: a section a rule, with what `qps ci` finds in its example."""
    head = PAGE.read_text(encoding="utf-8").partition("\n## ")[0].rstrip("\n")
    example = "\n".join(
        f"<!-- file: {name} -->\n```{name.rpartition('.')[2]}\n{text}```\n"
        for name, text in EXAMPLE.items()
    )
    sections = "".join(f"\n{_section(rule)}" for rule in RULES)
    return f"{head}\n\n## The example\n\n{example}{sections}"


def _section(rule: ReviewRule) -> str:
    with TemporaryDirectory() as name:
        found = [one for one in found_by(rule, Path(name)) if one["code"] == rule.name]
    kind = "text" if rule.example.startswith("$") else "diff"
    one = found[0]
    printed = f"{one['level']}[{rule.name}] {one['file']}:{one['line']}: {one['message']}"
    return (
        f"## {rule.name}\n\n{rule.summary[0].upper()}{rule.summary[1:]}. "
        f"Default: {rule.level.value}.\n\n{rule.why}\n\n```{kind}\n{rule.example}\n```\n\n"
        f"```text\n{printed}\n```\n\n{rule.fix}\n"
    )


def write_all() -> None:
    """Write the list and the page of rules."""
    LIST.write_text(with_list(LIST.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written, and the list of rules")
