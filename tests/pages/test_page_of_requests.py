"""Pages of alternatives, events, forks and fan-outs say what `solve` says."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.specs import checked
from pages.test_page_numbers import compare_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

HEAD = """
users N in 1..2_000
param pace = 0.1 request/s in 0.01..9 request/s
param hits = 85 % in 0..100 %
machine store { cpu 1 core, queueing md1 }
machine pool { cpu 4 core, queueing mmc }
machine idle { }
network lan { propagation 0.1 ms }
component get { cpu 1 ms/request }
component scan { cpu 31 ms/request }
component away { delay 100 ms }
"""
ONE_OF = (
    HEAD
    + """
topology { node front = idle; node east, west = pool; node far = idle; link l = lan between all }
stream asks for each user {
  traffic pace, 100 byte/request
  event cached = hits
  at front {
    one of { 70 %: call east { scan }; 20 %: call west { scan }; else: away }
    not cached: call far { away }
  }
}
require { asks.p95 <= 400 ms; asks.latency <= 150 ms }
"""
)
FAN_OUT = (
    HEAD
    + """
param leaves = 20 in 1..100
topology { node root = pool; node leaf = store * leaves; link l = lan between all }
stream search for each user {
  traffic pace, 100 byte/request
  at root { get; together leaves { call leaf { get } } }
}
stream suggest for each user {
  traffic pace, 100 byte/request
  at root { together leaves, first 1 answers { call leaf { get } } }
}
require { search.p99 <= 30 ms; suggest.p99 <= 20 ms }
"""
)
FORK = (
    HEAD
    + """
topology { node front = pool; node east, west = pool; node far = idle; link l = lan between all }
stream asks for each user {
  traffic pace, 100 byte/request
  at front {
    get
    (1 - hits): {
      together { call east { scan }; call west * 50 % { get }; call far { away } }
      get
    }
  }
}
require { asks.p95 <= 400 ms; asks.p50 <= 200 ms; asks.latency <= 150 ms }
"""
)
FORKS = (
    HEAD
    + """
topology { node front, east, west, north, south = store; node far = idle; link l = lan between all }
stream asks for each user {
  traffic pace, 100 byte/request
  at front {
    together { call east { get }; call west * 50 % { get }; call far { away } }
    together {
      call north { get; together { call south { get }; call far * (1 - hits) { away } } }
      call far { away }
    }
  }
}
require { asks.p95 <= 400 ms; asks.p50 <= 250 ms; asks.latency <= 300 ms }
"""
)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        pytest.param(ONE_OF, "pace = 0.2 request/s", id="one of and an event"),
        pytest.param(FORK, "hits = 70 %", id="a fork of those who miss"),
        pytest.param(
            FORKS,
            "hits = 70 %",
            id="forks in series and within each other",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            FAN_OUT.replace("cpu 1 core, queueing md1", "cpu 1 core, queueing mm1"),
            "pace = 0.05 request/s",
            id="exponential fan-outs",
        ),
        pytest.param(FAN_OUT, "pace = 0.05 request/s", id="fan-outs", marks=pytest.mark.nightly),
    ],
)
def test_every_number_is_that_of_the_solver(text: str, setting: str, open_page: Any) -> None:
    compare_page(checked(text), open_page, setting)
