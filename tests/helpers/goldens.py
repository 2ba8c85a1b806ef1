"""The answers of QPS before and after a change of its code.

    python tests/helpers/goldens.py keep FOLDER --cases CASES
    python tests/helpers/goldens.py compare FOLDER --only '^(solve|explain) specs/sfu'

`keep` puts texts into FOLDER/texts: `specs/`, `stdlib/`, the folders behind `--cases` (repeatable)
and 500 generated specs. Beside each spec in which something may vary stands `NAME_axes.qps`, its
text with matrices over all parameters, options, places, scenarios and modes in place of its own.
FOLDER/answers.jsonl keeps, in a line each, a command about one of them, its exit status, its
messages, its JSON (of a report: what the live page works on) and the processor seconds that it
took. The same command goes on with what was broken off.

`compare` asks the same commands about the same texts of the code as it stands, and tells what
differs, grouped by place; it ends with status 1 if anything does. Numbers that differ by less than
1e-9 of their value are only counted, those that differ in their last digits (1e-12) by themselves,
and so are formulas that are written otherwise but have the same values, and commands that had no
answer in time before. `--only` is a pattern of commands: `^solve specs/sfu`, `^solve generated/0`,
`^test`, `^matrix specs/iri_axes`.

Each command runs in a copy of this process, so that none depends on what was asked before it. One
that takes longer than `--limit` has the status "timeout".
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    # Set before numpy is imported: its threads would not live on in copies of the process.
    os.environ |= {"NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}

from helpers.golden_answers import TIMEOUT, Answer, Runner, read  # noqa: E402 - found above
from helpers.golden_differences import SAME, Comparison, Difference, group_text  # noqa: E402
from helpers.golden_specs import commands, explanations, gather  # noqa: E402

if TYPE_CHECKING:
    _Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_ANSWERS = "answers.jsonl"
_SAMPLE_SECONDS, _LONGEST_SAMPLED = 70.0, 3.0


def keep(folder: Path, cases: Sequence[Path], runner: Runner, only: str) -> int:
    """Keep all answers that are not yet kept."""
    folder.mkdir(parents=True, exist_ok=True)
    gather(runner.folder, cases)
    path = folder / _ANSWERS
    stored = read(path)
    whole = path.with_suffix(".part")  # without a line that was broken off
    whole.write_text("".join(one.as_line for one in stored.values()), encoding="utf-8")
    whole.replace(path)
    with path.open("a", encoding="utf-8") as file:

        def add(options: Iterable[str]) -> None:
            left = [one for one in options if one not in stored and re.search(only, one)]
            for answer in runner.answers(left):
                stored[answer.command] = answer
                file.write(answer.as_line)
                file.flush()

        add(commands(runner.folder))
        add(explanations(stored.values()))
    print(_summary(stored.values()))
    return 0


def compare(folder: Path, runner: Runner, only: str, *, quick: bool, examples: int) -> int:
    """Tell what is answered otherwise; return 1 where anything is or nothing was asked."""
    stored = {name: one for name, one in read(folder / _ANSWERS).items() if re.search(only, name)}
    options = _sample(stored.values()) if quick else list(stored)
    groups: dict[str, list[tuple[str, Difference]]] = {}
    last_digits = close = rewritten = late = 0
    before = now = 0.0
    for answer in runner.answers(options):
        old = stored[answer.command]
        if old.status == TIMEOUT:
            late += 1
            continue
        before, now = before + old.seconds, now + answer.seconds
        comparison = _compared(old, answer)
        last_digits += comparison.last_digits
        close += comparison.close
        rewritten += comparison.rewritten
        for one in comparison.found:
            name = f"{_verb(answer)}: {one.kind}"
            groups.setdefault(name, []).append((answer.command, one))
    for name in sorted(groups):
        print(group_text(name, groups[name], examples))
    print(
        f"{len(options):,} commands, {late:,} of them without an answer in time before\n"
        f"{sum(map(len, groups.values())):,} differences of {len(groups):,} kinds\n"
        f"{last_digits:,} numbers differ in their last digits, {close:,} by less than {SAME:g}\n"
        f"{rewritten:,} formulas and texts say the same in another way\n"
        f"{before:.0f} s of the processor before, {now:.0f} s now"
    )
    return 1 if groups or not options else 0


def _compared(old: Answer, new: Answer) -> Comparison:
    comparison = Comparison()
    comparison.compare(old.status, new.status, "status", "status")
    if new.status != TIMEOUT:
        comparison.compare(old.reported, new.reported, "messages", "messages")
        comparison.compare(old.answer, new.answer)
    return comparison


def _sample(stored: Iterable[Answer]) -> list[str]:
    """Return commands of all kinds, always the same, none of which took long."""
    found, left = [], _SAMPLE_SECONDS
    for one in sorted(stored, key=lambda each: sha256(each.command.encode()).digest()):
        if one.status != TIMEOUT and one.seconds <= min(left, _LONGEST_SAMPLED):
            found.append(one.command)
            left -= one.seconds
    return found


def _summary(answers: Iterable[Answer]) -> str:
    """Return how many answers there are of each kind, and how long they took."""
    lines, found = [], list(answers)
    for verb in sorted(set(map(_verb, found))):
        own = [one for one in found if _verb(one) == verb]
        statuses = [str(one.status) for one in own]
        text = ", ".join(f"{statuses.count(each):,} × {each}" for each in sorted(set(statuses)))
        seconds = sum(one.seconds for one in own)
        lines.append(f"{verb}: {len(own):,} in {seconds:.0f} s of the processor; status {text}")
    return "\n".join(lines)


def _verb(answer: Answer) -> str:
    return answer.command.partition(" ")[0]


def main() -> int:
    """Keep or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    keeping = _added(verbs, "keep", "keep what the code as it stands answers")
    keeping.add_argument("--cases", type=Path, action="append", default=[], help="more specs")
    comparing = _added(verbs, "compare", "tell what the code as it stands answers otherwise")
    comparing.add_argument("--quick", action="store_true", help="a sample, in two minutes")
    comparing.add_argument(
        "--examples", metavar="COUNT", type=int, default=3, help="of each kind of difference"
    )
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    runner = Runner(folder / "texts", arguments.processes, arguments.limit)
    if arguments.verb == "keep":
        return keep(folder, [case.resolve() for case in arguments.cases], runner, arguments.only)
    return compare(
        folder, runner, arguments.only, quick=arguments.quick, examples=arguments.examples
    )


def _added(verbs: _Parsers, name: str, expected: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=expected)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--only", metavar="PATTERN", default="", help="commands that hold it")
    parser.add_argument("--processes", type=int, choices=[1, 2], default=1)
    parser.add_argument(
        "--limit", metavar="SECONDS", type=int, default=60, help="of the processor, for a command"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
