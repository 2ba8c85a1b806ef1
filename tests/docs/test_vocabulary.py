"""What QPS says is said in the words of the field: retired ones do not come back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from documents import code_names
from documents.vocabulary import LEFT, RETIRED, ROOT, counts, places, words_in


def test_no_file_says_more_retired_words_than_before() -> None:
    """Run `python tests/documents/vocabulary.py`: it lists them, and writes how many are left."""
    left = json.loads(LEFT.read_text(encoding="utf-8"))
    found = counts(places())
    more = {file: count for file, count in found.items() if count > left.get(file, 0)}
    assert more == {}


def test_no_name_has_a_retired_word() -> None:
    """Run `PYTHONPATH=tests python tests/documents/code_names.py [PATH…]` to list them."""
    assert list(code_names.places()) == []


def test_a_public_class_name_is_one_files() -> None:
    """A declaration has one name in the syntax tree, the model, the network and the simulation."""
    assert list(code_names.repeated_classes()) == []


def test_a_class_name_of_two_files_is_found(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("class Row:\n    pass\nclass _Row:\n    pass\n", encoding="utf-8")
    second.write_text("class Row:\n    pass\nclass _Row:\n    pass\n", encoding="utf-8")
    found = list(code_names.repeated_classes([first, second]))
    assert found == [f"Row: {first.as_posix()}, {second.as_posix()}"]
    assert list(code_names.repeated_classes([first])) == []


def test_no_value_in_tests_has_a_retired_word() -> None:
    assert list(code_names.values_in_tests()) == []


def test_no_script_has_a_retired_word() -> None:
    assert list(code_names.names_in_scripts()) == []


def test_no_test_has_a_retired_name() -> None:
    assert list(code_names.test_names()) == []


def test_retired_names_are_found() -> None:
    text = "class Met:\n    told_at: int\n    is_met: bool\n"
    text += "    def f(self, way, wayne):\n        kept = way\n        case_of = 1\n"
    text += "def g(x):\n    match x:\n        case [settled, *asked]:\n            pass\n"
    found = [name for _, name in code_names.retired_names(text)]
    assert found == ["Met", "told_at", "way", "kept", "settled", "asked"]
    script = "// told\nconst told = 'kept', isKept = `${asked}`;\nthis.keptBy = untold.length;\n"
    found = [name for _, name in code_names.retired_script_names(script)]
    assert found == ["told", "isKept", "keptBy", "untold"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It tells how many users are carried.", ["tells", "carried"]),
        ("What gives out first? Nobody is sure of it.", ["gives out", "is sure", "Nobody"]),
        ("The playout buffer of a player holds 20 ms.", []),
        ("utilization of web CPU reaches its target at 7,462 users", []),
        ("the colour of a neighbour", ["colour", "neighbour"]),
    ],
)
def test_retired_words_are_found(text: str, words: list[str]) -> None:
    assert sorted(words_in(text)) == sorted(words)


BRITISH = re.compile(
    rf"\b(?:{next(words for words, instead in RETIRED if instead == 'American spelling')})\b",
    re.IGNORECASE,
)
BRITISH_ON_PURPOSE = {  # and `cancelled`, as Python calls it
    "benchmarks/matrix_runs.py": "grey",  # a color of matplotlib
    "compiler/measurement/fit_columns.py": "utilisation",  # a heading that people write
    "reports/text/words/nouns.py": "centres",  # a name in a spec
    "tests/commands/test_first_screen.py": "centres",
}


def test_code_with_its_comments_is_in_american_spelling() -> None:
    folders = "benchmarks compiler editing editors engine grammar laboratory reports reviewing"
    found = {}
    for folder in (*folders.split(), "simulation", "solver", "tests", "src/qps/commands"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".py", ".js") or "node_modules" in name:
                continue
            if name.startswith(("tests/documents/", "tests/docs/test_vocabulary")):
                continue
            words = set(map(str.lower, BRITISH.findall(path.read_text(encoding="utf-8"))))
            words -= {BRITISH_ON_PURPOSE.get(name), "cancelled", "saturation_table"}
            if words:
                found[name] = words
    assert found == {}
