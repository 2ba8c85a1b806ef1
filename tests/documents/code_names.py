"""Words that names in code no longer have.

Checked are definitions of the product (functions, classes, their members, parameters, values of
modules), values of functions, names in scripts, and names of tests.
`PYTHONPATH=tests python tests/documents/code_names.py [PATH…]` prints each name that has a
retired word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from documents.code_outline import CodeOutline, outline, outline_of_file
from documents.vocabulary import SCRIPTS, code_of_script

ROOT = Path(__file__).resolve().parents[2]
RETIRED = frozenset(
    {
        "akin", "analyse", "analysed", "anew", "anybody", "asked", "asking", "awaited",
        "behaviour", "beside", "born", "bought", "cancelling", "carried", "carrying", "centre",
        "centred", "colour", "coloured", "colours", "crew", "dear", "dearer", "desk",
        "everybody", "face", "faces", "favour", "forgetful", "generalisation", "generalised",
        "ghost", "given", "grave", "grey", "hair", "heard", "held", "hopeless", "initialise",
        "judge", "judged",
        "judgement", "judges", "kept", "kin", "labelled", "labelling", "licence", "looked",
        "lots", "made", "maximise", "mend", "mended", "mending", "mends", "met", "minimise",
        "modelled", "modelling", "near", "nearer", "neighbour", "neighbours", "nobody",
        "normalise", "normalised", "odds", "oftener", "once", "optimise", "optimised", "organise",
        "outdone", "packetisation", "played", "player", "plays", "programme", "promise",
        "promised", "promises", "promising", "realise", "reckoned", "recognise", "remembered",
        "remembering", "scene", "senseless", "serialise", "settle", "settled", "shelter",
        "shelters", "somebody", "summarise", "sure", "surely", "sureness", "taken", "tell",
        "telling", "tells", "tidy", "told", "travelled", "truth", "truths", "unasked",
        "unauthorised", "unawaited", "unjudged", "unlawful", "unplayed", "unsaid", "unsettled",
        "unsure", "untold", "unwaited", "utilisation", "vain", "waited", "walked", "way",
        "ways", "whoever",
    }
)  # fmt: skip
"""Pet words, participles that stand for a noun (docs/glossary.md has the terms), British spelling.

Requirements are met, as in `is_met` and `met_up_to`: only `met` alone is retired.
Deprecated attributes (`mends = former("mends", "fixes")`) stay until they are removed.
"""

RETIRED_IN_FUNCTIONS = frozenset(
    {
        "asked",
        "asking",
        "kept",
        "odds",
        "settled",
        "tell",
        "telling",
        "tells",
        "told",
        "unasked",
        "untold",
    }
)
"""Words that values of functions, and names in scripts, no longer have."""

RETIRED_IN_TESTS = frozenset(
    {
        "asked",
        "beside",
        "kept",
        "mend",
        "mended",
        "mends",
        "odds",
        "tell",
        "tells",
        "told",
        "unasked",
        "untold",
    }
)
"""Words that names of tests no longer have."""

_CODE = (
    "compiler", "editing", "engine", "grammar", "playground", "reports",
    "reviewing", "simulation", "solver", "src/qps",
)  # fmt: skip
STAGES = (
    "compiler/syntax/ast/",
    "compiler/ir/",
    "compiler/network/",
    "simulation/simulated_model.py",
)
"""Where a class may have the name of one in another of them: the same declaration, carried on."""

OF_INTERFACE = ("compiler/ir/model.py", "src/qps/api.py")
"""The class that Python's interface has under the name of what it wraps: `Model`."""

_OUTSIDE = ("benchmarks", "docs/website", "editors/generators", "laboratory")
_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
_SCRIPT_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def places(paths: Iterable[Path] | None = None) -> Iterator[str]:
    """Yield each definition with a retired word, with its file and line."""
    for path in paths or code_files():
        for line, name in _retired_names(outline_of_file(path)):
            yield f"{path.relative_to(ROOT).as_posix()}:{line}: {name}"


def values_in_tests() -> Iterator[str]:
    """Yield each value of a function of the tests with a retired word, with its file and line."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for line, name in outline_of_file(path).values:
            if RETIRED_IN_FUNCTIONS & _words_of(name):
                yield f"{path.relative_to(ROOT).as_posix()}:{line}: {name}"


def test_names() -> Iterator[str]:
    """Yield each test whose name has a word that names of tests no longer have."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            if RETIRED_IN_TESTS.intersection(name.split("_")):
                yield f"{path.relative_to(ROOT).as_posix()}: {name}"


def repeated_classes(paths: Iterable[Path] | None = None) -> Iterator[str]:
    """Yield each public class whose name another file has for something else, with its files."""
    files: dict[str, set[str]] = {}
    for path in paths or [*code_files(), *files_outside()]:
        for name in outline_of_file(path).classes:
            if not name.startswith("_"):
                files.setdefault(name, set()).add(_relative(path))
    for name, found in sorted(files.items()):
        stages = [next((one for one in STAGES if file.startswith(one)), file) for file in found]
        one_a_stage = set(stages) <= set(STAGES) and len(set(stages)) == len(stages)
        if len(found) > 1 and not one_a_stage and found != set(OF_INTERFACE):
            yield f"{name}: {', '.join(sorted(found))}"


def files_outside() -> list[Path]:
    """Return the files that are no part of the package."""
    found = [path for one in _OUTSIDE for path in (ROOT / one).rglob("*.py")]
    return sorted(path for path in found if not {"__pycache__", "build"} & set(path.parts))


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def code_files() -> list[Path]:
    """Return the files of the product."""
    found = {path for one in _CODE for path in (ROOT / one).rglob("*.py")}
    return sorted(path for path in found if "__pycache__" not in path.parts)


def names_in_scripts() -> Iterator[str]:
    """Yield each name in a script with a retired word, with its file and line."""
    for path in sorted(path for one in SCRIPTS for path in (ROOT / one).rglob("*.js")):
        if "node_modules" in path.parts:
            continue
        for line, name in retired_script_names(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT).as_posix()}:{line}: {name}"


def retired_script_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield each name of a script that has a retired word, with its line."""
    for line, code in enumerate(code_of_script(text).splitlines(), 1):
        for name in _SCRIPT_NAME.findall(code):
            if RETIRED_IN_FUNCTIONS & _words_of(name):
                yield line, name


def retired_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield each name that has a retired word, with its line."""
    yield from _retired_names(outline(text))


def _retired_names(found: CodeOutline) -> Iterator[tuple[int, str]]:
    for line, name in found.definitions:
        words = _words_of(name)
        retired = RETIRED & words
        if retired and (retired != {"met"} or words == {"met"}):
            yield line, name
    for line, name in found.values:
        if RETIRED_IN_FUNCTIONS & _words_of(name):
            yield line, name


def _words_of(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


if __name__ == "__main__":
    chosen = [Path(one).resolve() for one in sys.argv[1:]]
    files = [one for one in code_files() if not chosen or any(map(one.is_relative_to, chosen))]
    found = [*places(files), *([] if chosen else names_in_scripts())]
    print("".join(f"{one}\n" for one in found) + f"{len(found):,} names")
