"""What notebooks show of values: the answer, as HTML that loads and runs nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import qps

SPEC = """
users N in 1..1000
param pace = 2 packet/s
machine box { cpu 1 core }
component work { cpu 10 ms/packet }
topology { node host = box }
stream flow { traffic N * pace; at host { work } }
require { host.cpu.load <= 80 % }
matrix paces { pace in [1 packet/s, 2 packet/s] }
"""
EVIL = '<script>alert(1)</script>&"'


class _Tags(HTMLParser):
    """Gathers tags, which must be closed in turn, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += f"{data}\n"


def values() -> dict[str, object]:
    model = qps.loads(SPEC, name=EVIL)
    other = qps.loads(SPEC.replace("10 ms", "20 ms"), name="other")
    return {
        "model": model,
        "solution": model.solve(advice=True),
        "matrix": model.matrix(),
        "diff": model.diff(other),
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, object]:
    return values()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model", ["pace", "flow", "paces"]),
        ("solution", ["40 users", "utilization at its 80 % limit", "80 %", "exact for this model"]),
        ("matrix", ["2 configurations", "capacity"]),
        ("diff", ["Capacity", "40", "20", "work.cpu"]),
    ],
)
def test_a_value_shows_itself(name: str, words: list[str], shown: dict[str, object]) -> None:
    value = shown[name]
    html = value._repr_html_()  # type: ignore[attr-defined]
    tags = _Tags(html)
    assert tags.open == []
    assert set(tags.found) <= {"div", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert tags.attributes <= {"style"}
    assert "url(" not in html
    assert "`" not in html
    for word in words:
        assert word in tags.words
    assert EVIL in tags.words
    bundle = value._repr_mimebundle_()  # type: ignore[attr-defined]
    assert bundle["text/html"] == html
    for word in words:
        assert word in bundle["text/plain"].replace("\n", " ")
    assert max(map(len, bundle["text/plain"].splitlines())) <= 80


def test_a_notebook_may_ask_for_some_of_it(shown: dict[str, object]) -> None:
    ask = shown["solution"]._repr_mimebundle_  # type: ignore[attr-defined]
    assert set(ask(include=["text/plain"])) == {"text/plain"}
    assert set(ask(exclude=["text/plain"])) == {"text/html"}
    assert set(ask(include=["image/png"])) == set()


def test_a_difference_has_the_answers_of_both() -> None:
    model = qps.loads(SPEC)
    found = model.diff(qps.loads(SPEC.replace("10 ms", "20 ms")))
    assert found.before.capacity == 40
    assert found.after.capacity == 20
    assert found.users == -20
