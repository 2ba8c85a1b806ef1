"""Changes, and what they cost, have one table of words, which terminal and page are held to.

As for numbers (`tests/browsers/page_cases.py`), Python writes what the scripts read, and each must
say what stands in the table.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from browsers.node import needs_node, run_module
from helpers.nightly import nightly
from helpers.specs import checked
from qps.compiler.configure.configuration import in_each_mode
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load
from qps.compiler.quantities.certainty import EXACT
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.pages.live.live_page import live_page
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.change_wording import Wording, changes_of, extra_cost
from qps.reports.text.words.labels import PLAIN
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.variants.model_variants import ShownCase, model_variants

SPEC = '''
users N in 1..1000
option codec = opus or plain_pcm
option order = in_turn or at_once
param size = 3 kB
param posts_each = 10
"""How much of it is new: about one in twenty"""
param new = 5 % in 0..100 %
"""The flats of a house"""
param flats = 7
"""Houses with a name that is longer than a line of text, which it ought not to be"""
param houses = 1234567
param gap = 0.5 ms
param apps = 3 in 1..64
machine small { cpu 2 core; price 900 $ }
"""A big one"""
machine big { cpu 8 core; price 0.5 $/hour }
network slow { duplex; rate 10 Mbit/s }
network quick { duplex; rate 100 Mbit/s }
"""slow"""
network sluggish { duplex; rate 20 Mbit/s }
component work { cpu if codec == opus then 2 ms/request + gap/request else 1 ms/request }
component more { cpu if order == in_turn then 2 ms/request else 1 ms/request }
topology {
  node user = big * N
  node web  = small
  """Where pages are made"""
  node app  = small * 2
  node back_end = small * apps
  link wan = slow between user, web
  link lan = slow * 3 between web, app, back_end
}
stream page for each user {
  traffic posts_each * new * flats / houses * 1 request/s, size/request
  at user { }; over wan; at web { work }; at app { more }; at back_end { work }
}
'''

NUMBERS: list[tuple[str, Fraction, str]] = [
    ("size", Fraction(11, 10), "size: 3 -> 3.3 kB"),
    ("size", Fraction(1, 3), "size: 3 -> 1 kB"),
    ("posts_each", Fraction(11, 10), "posts_each: 10 -> 11"),
    ("new", Fraction(9, 10), "new: 5 -> 4.5 %"),
    ("flats", Fraction(2), "flats: 7 -> 14"),
    ("houses", Fraction(2), "houses: 1,235,000 -> 2,469,000"),
    ("gap", Fraction(9, 10), "gap: 0.5 -> 0.45 ms"),
    ("apps", Fraction(2), "apps: 3 -> 6"),
    ("wan.rate", Fraction(2), "wan.rate: 10 -> 20 Mbit/s"),
    ("wan.rate", Fraction(1, 2), "wan.rate: 10 -> 5 Mbit/s"),
    ("web.cpu.cores", Fraction(2), "web.cpu.cores: 2 -> 4"),
    ("app.cpu.cores", Fraction(2), "app.cpu.cores: 2 -> 4"),
]
"""A number, how many times as much it becomes, and that in words."""

CHOICES: list[tuple[str, str, str]] = [
    ("codec", "plain_pcm", "codec: opus -> plain_pcm"),
    ("order", "at_once", "order: in_turn -> at_once"),
    ("web", "small * 2", "web: 1 -> 2 servers"),
    ("web", "big", "web: small -> big"),
    ("app", "small * 4", "app: 2 -> 4 servers"),
    ("back_end", "big", "back_end: small -> big"),
    ("wan", "slow * 2", "wan: 1 -> 2 links"),
    ("wan", "quick", "wan: slow -> quick"),
    ("lan", "slow * 6", "lan: 3 -> 6 links"),
]
"""A place or option, what is to be there, and that in words."""

COSTS: list[tuple[ChangeKind, str, float | None, float | None, str]] = [
    (ChangeKind.CAPACITY, "web", 900.0, None, "+$900"),
    (ChangeKind.CAPACITY, "web", -450.0, None, "-$450"),
    (ChangeKind.CAPACITY, "web", None, 0.25 / 3600, "+$183/month"),
    (ChangeKind.CAPACITY, "web", 1234.5, -0.25 / 3600, "+$1,234 and -$183/month"),
    (ChangeKind.CAPACITY, "web", 0.0, None, "same cost"),
    (ChangeKind.CAPACITY, "web", 0.0, 0.0, "same cost"),
    (ChangeKind.CAPACITY, "wan", None, None, "no price set"),
    (ChangeKind.DEMAND, "size", 0.0, None, ""),
    (ChangeKind.DEMAND, "size", -30.0, None, "-$30"),
]
"""A way to help, of what, what it costs more, once and while it runs, and that in words."""


def _advice(
    name: str,
    *,
    change: str = "",
    factor: Fraction | None = None,
    kind: ChangeKind = ChangeKind.CAPACITY,
) -> Advice:
    return Advice(
        kind=kind,
        name=name,
        change=change,
        set=factor is None,
        factor=None if factor is None else float(factor),
        capacity=1,
        range_limits=False,
    )


def _view(
    kind: ChangeKind, name: str, price: float | None, running_price: float | None
) -> AdviceView:
    return AdviceView(
        kind=kind,
        name=name,
        change="",
        words="",
        setting=None,
        set=False,
        capacity=1,
        range_limits=False,
        to=None,
        headroom=None,
        known=EXACT,
        price=price,
        running_price=running_price,
    )


WORDS = [words for *_, words in [*NUMBERS, *CHOICES]]


def larger(reliable: int, *settings: str) -> AdviceView:
    """Return a change of these settings, and what is supported with it."""
    return AdviceView(
        kind=ChangeKind.CAPACITY, name=", ".join(settings), change="", words="", set=True,
        setting=settings[0] if len(settings) == 1 else None, capacity=reliable + 100,
        range_limits=False, to=None, headroom=None, known=EXACT, price=None, running_price=None,
        reliable_capacity=reliable, together=settings if len(settings) > 1 else None,
    )  # fmt: skip


@pytest.mark.parametrize(("both", "is_among_the_first"), [(201, False), (225, False), (230, True)])
def test_two_changes_that_gain_hardly_more_than_one_are_not_among_the_first(
    both: int, is_among_the_first: bool
) -> None:
    web, lan = larger(201, "web = server * 2"), larger(120, "lan = gigabit * 2")
    together = larger(both, "web = server * 2", "lan = gigabit * 2")
    words = Wording(labels=PLAIN, changes=(together, web, lan), supported=100, base=100)
    assert (together in words.best_changes) is is_among_the_first
    assert web in words.best_changes
    assert {*words.by_kind, *words.others_by_kind} == {together, web, lan}


def test_the_terminal_has_the_words_of_the_table() -> None:
    spec = checked(SPEC)
    configuration = spec.configuration()
    changes = changes_of(spec.model, configuration, lower(spec.model, configuration).assumptions)
    options = [_advice(name, factor=factor) for name, factor, _ in NUMBERS]
    options += [_advice(name, change=f"{name} = {to}") for name, to, _ in CHOICES]
    assert [changes.viewed(one).words for one in options] == WORDS
    assert [extra_cost(_view(*about)) for *about, _ in COSTS] == [words for *_, words in COSTS]


@needs_node
def test_the_page_has_the_words_of_the_table(tmp_path: Path) -> None:
    spec = checked(SPEC)
    configuration = spec.configuration()
    numbers = lower(spec.model, configuration).assumptions
    after = [(name, numbers[name].fraction * factor) for name, factor, _ in NUMBERS]
    options = {
        "page": live_page(model_variants([ShownCase(spec.model, configuration)]))["models"][0],  # type: ignore[index]
        "numbers": [(name, str(one.numerator), str(one.denominator)) for name, one in after],
        "choices": [(name, to) for name, to, _ in CHOICES],
        "costs": [_cost_in_page(*about) for *about, _ in COSTS],
    }
    file = tmp_path / "asked.json"
    file.write_text(json.dumps(options), "utf-8")
    data = json.loads(
        run_module(
            'import { readFileSync } from "node:fs";\n'
            'import { wordsOf } from "./tests/scripts/changing.js";\n'
            f"const asked = JSON.parse(readFileSync({json.dumps(str(file))}));\n"
            "console.log(JSON.stringify(wordsOf(asked)));"
        )
    )
    in_page = [words.replace(" -> ", " → ") for words in WORDS]
    assert data == [in_page, [words for *_, words in COSTS]]


def _cost_in_page(kind: ChangeKind, name: str, *prices: float | None) -> dict[str, object]:
    pairs = zip(prices, (MONEY, MONEY / TIME), strict=True)
    values = [(price, str(dimension)) for price, dimension in pairs if price is not None]
    return {
        "kind": "other hardware" if kind is ChangeKind.CAPACITY else "less demand",
        "part": name,
        "prices": [price for price, _ in values],
        "dimensions": [dimension for _, dimension in values],
    }


SPECS = Path(__file__).parents[2] / "specs"
_BY_DAY = {"audioconference", "https_server", "problem_solving", "kafka", "lazowska_142"}
"""With units and numbers of modules, with numbers in place, and with users who wait."""


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[] if file.stem in _BY_DAY else [nightly])
        for file in sorted(SPECS.rglob("*.qps"))
    ],
)
def test_what_is_printed_behind_set_is_accepted(file: Path) -> None:
    """As it is written out, so that only what is set, and in which unit, can be refused."""
    spec = load(file)
    configuration = spec.configuration(None, ())
    in_a_mode = next(iter(in_each_mode(spec.model, configuration)))
    changes = changes_of(spec.model, configuration, lower(spec.model, in_a_mode).assumptions)
    assert changes.settable
    for name in changes.settable:
        setting = changes.viewed(_advice(name, factor=Fraction(1))).setting
        if setting is not None:
            spec.with_parts_of([setting]).configuration(None, [setting])
