"""Users who wait behind a switched network, and limits that a full station comes to exactly."""

from __future__ import annotations

import pytest

from qps import api

_SPEC = """
users N in 1..100_000
machine web_ {{ cpu 8 core, queueing mmc }}
machine db_ {{ cpu 16 core, queueing mmc; disk 4 core, queueing mmc }}
network lan {{ switched; rate 1 Gbit/s; queueing md1 }}
component page {{ cpu 8 ms/request }}
component query {{ cpu 3 ms/request; disk 2 ms/request }}
machine pc {{ }}
topology {{ node client = pc * N; node web = web_ * 3; node db = db_; link l = lan between all }}
stream browse for each client {{
  traffic 1 request, 2 kB/request, think 10 s
  at client {{ }}
  at web {{ page; call db * 2 {{ query }} }}
  at client {{ }}
}}
require {{ browse.latency <= {} }}
"""


@pytest.mark.parametrize(
    ("limit", "users"),
    [
        ("200 ms", 10_190),
        ("20 s", 30_000),  # 1,000 request/s, 10 s of thought: on the limit in all digits of floats
    ],
)
def test_a_network_that_is_visited_several_times(limit: str, users: int) -> None:
    assert api.loads(_SPEC.format(limit)).solve(advice=False).capacity == users


@pytest.mark.parametrize(("users", "kind"), [(8_000, "exact"), (100_000, "approximation")])
def test_very_many_servers_of_very_many_users_are_reported_as_approximated(
    users: int, kind: str
) -> None:
    text = f"""users N in 1..{users}
machine farm {{ cpu 20_000 core, queueing mmc }}
component work {{ cpu 1 s/request }}
topology {{ node f = farm }}
stream ask for each user {{ traffic 1 request, think 2 s; at f {{ work }} }}
require {{ ask.latency <= 3 s }}
"""
    (found,) = api.loads(text).solve(advice=False).requirements[:1]
    assert found.known.kind.value == kind
