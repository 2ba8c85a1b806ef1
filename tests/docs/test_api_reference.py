"""docs/api.md is what the docstrings of the public names say, and says something of each."""

from __future__ import annotations

import inspect

import pytest

import qps
from documents import api_reference

PAGE = api_reference.PAGE.read_text(encoding="utf-8")


def test_the_reference_is_what_docstrings_say() -> None:
    assert api_reference.written(PAGE) == PAGE, "run `python tests/documents/docs.py`"


@pytest.mark.parametrize("name", [name for name in qps.__all__ if not name.startswith("_")])
def test_every_public_name_is_reported(name: str) -> None:
    member = getattr(qps, name)
    assert inspect.getdoc(member)
    heading = "##" if inspect.isclass(member) else "###"
    assert f"\n{heading} {name}\n" in PAGE


@pytest.mark.parametrize(
    "expected",
    [
        "Model.solve(",
        'qps.loads(text: str, name: str = "spec") -> Model',
        "Model.sweep(",
        "    **populations: Iterable[int],",
        "### SolveView\n",
        "### MatrixResult\n",
        "MatrixResult.schema: pa.Schema",
        "| `capacity` | `int \\| None` |",
    ],
)
def test_methods_and_what_they_return_are_reported(expected: str) -> None:
    assert expected in PAGE


def test_every_method_of_a_model_says_what_it_returns() -> None:
    methods = [one for name, one in inspect.getmembers(qps.Model) if not name.startswith("_")]
    functions = [one for one in methods if inspect.isfunction(one)]
    assert len(functions) > 8
    assert all(inspect.getdoc(one) for one in functions)
