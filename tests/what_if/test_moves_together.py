"""Steps of several resources that are equally full move together, and moves that cost nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import qps
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.reports.text.solutions.rewrite_wording import rewrite_words
from qps.reports.text.words.labels import PLAIN
from qps.solver.answers.answer_parts import Advice, ChangeKind, RewriteMethod
from qps.solver.solved_spec import solved_spec
from qps.solver.uncertainty.interval_result import Sampling
from what_if.test_spec_changes import written


@dataclass
class Tiers:
    """Services in a chain of calls; each page takes 1 ms of a core at `edge`, `auth` and `cache`.

    At the database, it takes 4 ms, at one of 16 cores, which is as much of these.
    """

    search: int = 2
    limit: str = "browse.latency <= 20 ms"
    prices: str = "price 100 $/month"

    def text(self) -> str:
        """Return the services as a spec."""
        return f"""
users N in 1..200_000
machine small {{ cpu 4 core, queueing mmc; {self.prices} }}
machine large {{ cpu 16 core, queueing mmc; {self.prices} }}
machine phone {{ }}
network dc {{ switched; propagation 0.1 ms }}
component work {{ cpu 1 ms/request }}
component heavy {{ cpu 4 ms/request }}
topology {{
  node client = phone * N
  node edge = large
  node auth, cache = small
  node search = large * {self.search}
  node database = large
  link lan = dc between all but client
  link line = dc between client, edge
}}
stream browse for each client {{
  traffic 0.1 request/s, 2 kB/request
  at client {{ }}
  at edge {{
    work
    call auth {{ work }}
    call cache {{ work }}
    call search {{ work; call database {{ heavy }} }}
  }}
  at client {{ }}
}}
require {{ {self.limit} }}
"""


def _moves(text: str) -> list[Advice]:
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    solved = solved_spec(spec, None, (), advice=True, sampling=Sampling(), with_confidence=False)
    return [one for one in solved.answer.advice if one.kind is ChangeKind.SHIFT]


@pytest.mark.parametrize("limit", ["browse.latency <= 20 ms", "auth.cpu.utilization <= 100 %"])
def test_no_single_move_helps_but_all_together(limit: str) -> None:
    # auth, cache and database are full at 4,000 pages/s; search has 5 ms of 32 cores then
    text = Tiers(limit=limit).text()
    now = qps.loads(text).solve().capacity
    assert now is not None
    assert 35_000 < now <= 40_000
    (one,) = (one for one in _moves(text) if one.rewrite is not None)
    assert one.rewrite is not None
    assert one.rewrite.method is RewriteMethod.MOVED_TOGETHER
    assert one.capacity == qps.loads(written(text, one.rewrite.lines)).solve().capacity
    assert one.capacity >= 1.1 * now
    # each move by itself leaves the two others full
    lines = one.rewrite.lines
    assert len(lines) > 1
    for line in lines:
        alone = qps.loads(written(text, [line])).solve().capacity
        assert alone is not None
        assert alone <= 40_000


def test_words_name_each_move() -> None:
    (one,) = _moves(Tiers().text())
    assert one.rewrite is not None
    words = rewrite_words(one.rewrite, PLAIN)
    for moved in ("work of browse: auth -> ", "work of browse: cache -> ", "heavy of browse: "):
        assert moved in words


def test_no_move_where_no_machine_has_room() -> None:
    # 32 cores in all besides the database, which do 1 ms of each page, carry 4 ms no faster
    assert not _moves(Tiers(search=1).text())


def test_of_uncertain_work_a_move_is_listed_that_gives_a_little_more() -> None:
    """At 950 pages/s `store` is full; with a move, `app` is at 1,027."""
    text = """
users N in 1..1_000_000
machine one { cpu 1 core, queueing mm1; price 50 $/month }
machine two { cpu 2 core, queueing mmc; price 99 $/month }
network lan { switched; rate 10 Gbit/s; queueing none }
component render { cpu 1.85 ms/request }
component lookup { cpu 1 ms/request +- 10 % }
component query { cpu 0.1 ms/request }
topology {
  node app = two
  node store = one
  node db = two
  link rack = lan between app, store, db
}
stream page for each user {
  traffic 0.01 request/s, 1 kB/request
  at app { render; call store { lookup }; call db { query } }
}
target cpu 95 %
"""
    model = qps.loads(text)
    assert model.solve().capacity == 95_000
    (one,) = (one for one in _moves(text) if one.rewrite is not None)
    assert (one.to, one.capacity, one.running_price) == ("db.cpu", 102_702, 0)
    assert not _moves(text.replace(" +- 10 %", ""))
