"""What every command takes for every spec: those of this repository, of its guides, and others.

`python benchmarks survey --also FOLDER` runs `solve`, `solve --users`, `report`, `explain`,
`check`, `diff` and `ci` for each spec, nothing cached, and shows what takes longest; with `--only
PATTERN` those whose command and spec have it. No command may take more than 10 S. A population to
size for is twice the capacity; what is explained is what limits it; what is compared is the spec
with its first parameter a tenth larger, for `ci` as the last commit of a repository of its own.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measures import APPLICATIONS, SPECS, folder, sympy_seconds
from timings import ROOT, TimingTable, Used, used

_COMMANDS = ("solve", "solve --users", "report", "explain", "check", "diff", "ci")
_LONGEST = 15
_LIMIT = 45  # s of processor, after which a command is broken off
_ALLOWED = 10  # S
_ASKED = ("solve", "solve --users", "explain")
_S_EVERY = 25  # commands, after which S is measured again
_LARGER = 1.1  # times the parameter that differs
_PARAMETER = re.compile(r"^(param \w+ *= *)(\d+(?:\.\d+)?)", re.MULTILINE)
_FILE = re.compile(r"<!-- file: ([\w./-]+\.qps) -->\n```qps\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """What one command took for a spec: s of processor, S at that time, whether broken off."""

    name: str
    spec: str
    seconds: float
    unit: float
    is_late: bool

    @property
    def in_units(self) -> float:
        """S that it took."""
        return self.seconds / self.unit


def survey(also: Sequence[Path] = (), progress: Path | None = None, only: str = "") -> TimingTable:
    """Return the commands that take longest; each is added to a file of progress once it ran.

    Of those that have `only` in their names, and `solve`, which says what the others ask.
    """
    found: list[Command] = []
    answers: dict[Path, tuple[str, str]] = {}
    failed, unit = 0, sympy_seconds()
    paths = dict(_specs(also))
    for name in _COMMANDS:
        for number, (path, shown) in enumerate(paths.items()):
            if number % _S_EVERY == _S_EVERY - 1:
                unit = min(sympy_seconds(), sympy_seconds())
            is_needed = name == "solve" and any(only in f"{n}: {shown}" for n in _ASKED)
            if only not in f"{name}: {shown}" and not is_needed:
                continue
            words = _words(name, path, answers.get(path))
            if words is None:
                continue
            try:
                took = used(["-m", "qps", *words], _LIMIT, path.parent)
            except RuntimeError:
                failed += 1  # an error in the spec, which is an answer of no interest here
                continue
            if name == "solve":
                answers[path] = _capacity_and_limit(took)
            found.append(Command(name, shown, took.seconds, unit, took.is_late))
            if progress is not None:
                with progress.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, shown, took.seconds, unit, took.is_late]) + "\n")
    return _table(found, failed)


def _specs(also: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield every spec with the name that is shown of it."""
    for parent in (SPECS, *APPLICATIONS):
        for path in sorted(parent.rglob("*.qps")):
            yield path, str(path.relative_to(ROOT))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        place = folder() / page.stem
        for file, text in _FILE.findall(page.read_text(encoding="utf-8")):
            path = place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            yield path, f"{page.relative_to(ROOT)}: {file}"
    for parent in also:
        for path in sorted(parent.rglob("*.qps")):
            yield path, str(path.relative_to(parent.parent))


def _words(name: str, path: Path, answer: tuple[str, str] | None) -> tuple[str, ...] | None:
    """Return a command for a spec; None where its answer has nothing to ask for."""
    population, limit = answer or ("", "")
    if name in {"diff", "ci"}:
        changed = _changed(path)
        if changed is None:
            return None
        if name == "diff":
            return ("diff", "-q", str(path), str(changed))
        return ("ci", "-q", "--all", "--base", "HEAD~1", str(changed))
    words = {
        "solve": ("solve", "-q", "--format", "json", path.name),
        "solve --users": ("solve", "-q", "--users", population, path.name),
        "report": ("report", "-q", path.name, "-o", str(folder() / "page.html")),
        "explain": ("explain", "-q", path.name, limit),
        "check": ("check", "-q", path.name),
    }[name]
    return words if all(words) else None


def _changed(path: Path) -> Path | None:
    """Return a copy whose first parameter is larger than in the commit before; None for none."""
    text = path.read_text(encoding="utf-8")
    larger = _PARAMETER.sub(lambda m: f"{m[1]}{float(m[2]) * _LARGER:.12g}", text, count=1)
    if larger == text:
        return None
    place = Path(tempfile.mkdtemp(dir=folder()))
    for other in path.parent.glob("*.qps"):
        shutil.copy(other, place)
    copy = place / path.name
    _git(place, "init", "-q")
    for version in (text, larger):
        copy.write_text(version, encoding="utf-8")
        _git(place, "add", "-A")
        _git(place, "commit", "-q", "-m", "survey")
    return copy


def _git(place: Path, *words: str) -> None:
    who = ("-c", "user.name=survey", "-c", "user.email=survey@localhost")
    subprocess.run(["git", "-C", str(place), *who, *words], check=True)


def _capacity_and_limit(solved: Used) -> tuple[str, str]:
    """Return twice the capacity, and the name of what limits it, as far as there are any."""
    try:
        answer = json.loads(solved.text)
    except ValueError:
        return "", ""
    capacity, bottleneck = answer.get("capacity"), answer.get("bottleneck")
    resource = bottleneck.get("resource") if isinstance(bottleneck, dict) else None
    limit = (answer.get("limited_by") or [resource])[0]
    name = limit.get("resource") or limit.get("name") if isinstance(limit, dict) else limit
    return str(2 * int(capacity)) if capacity else "", str(name or "")


def _table(found: Sequence[Command], failed: int) -> TimingTable:
    worst = sorted(found, key=lambda one: one.in_units, reverse=True)
    rows = tuple(
        (
            f"{one.name}: {one.spec}",
            f"{'over ' * one.is_late}{one.seconds:.1f}",
            f"{one.in_units:.1f}",
        )
        for one in worst[:_LONGEST]
    )
    beyond = sum(one.in_units > _ALLOWED for one in found)
    names = ", ".join(f"`{name}`" for name in _COMMANDS)
    return TimingTable(
        "Every command for every spec",
        f"Processor time in s, and in that of `import sympy`, of {len(found):,} commands: {names}, "
        f"nothing cached. {beyond} take more than {_ALLOWED} S, and {failed} end with an error.",
        ("command", "s", "S"),
        rows,
    )
