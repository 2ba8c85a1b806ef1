"""The page answers what `solve` answers: in Node, where no browser is needed, for many specs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from browsers.node import needs_node, run_module
from browsers.page_answers import differences
from helpers.golden_specs import generated
from helpers.specs import PRELUDE
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_file, check_source
from qps.reports.pages.live.live_page import live_page
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.variants.model_variants import ShownCase, model_variants
from solving.saturation_specs import CEIL_MACHINES, CEIL_OF_SQUARE, MEETING_STEPS, WRONG_BOTTLENECK

SPECS = 60
SHARES = 3  # of them each is a test of its own


def queried(text: str | Path) -> tuple[object, Solution] | None:
    """Return a spec as a page holds it, and its answers; None where it has none."""
    is_file = isinstance(text, Path)
    spec = (check_file(text) if is_file else check_source(Source("spec.qps", text))).value
    if spec is None:
        return None
    configuration = spec.configuration()
    try:
        solution = solve_model(spec.model, configuration)
    except QpsError:
        return None
    page = live_page(model_variants([ShownCase(spec.model, configuration)], 1))
    return page["models"][0], solution  # type: ignore[index]


@needs_node
@pytest.mark.parametrize("share", range(SHARES))
def test_generated_specs_have_one_answer(share: int, tmp_path: Path) -> None:
    found = [one for text in generated(SPECS)[share::SHARES] if (one := queried(text))]
    assert len(found) > SPECS / SHARES / 2
    _holds_for(found, tmp_path)


@needs_node
def test_elastic_numbers_that_share_a_resource_have_one_answer(tmp_path: Path) -> None:
    texts = [
        "users N in 1..200\nmachine box { cpu 4 core }\ntopology { node host = box }\n"
        + "".join(
            f"param e{n} elastic {1 + n * gap}..{7 + 5 * n} packet/s\n"
            f"component c{n} {{ cpu {10 + n} ms/packet }}\n"
            f"stream s{n} {{ traffic N * e{n}; at host {{ c{n} }} }}\n"
            for n in range(count)
        )
        + limit
        for count in (2, 3, 7, 40)
        for gap in (0, 2)
        for limit in ("", "require { host.cpu.load <= 70 % }\n")
    ]
    _holds_for([one for text in texts if (one := queried(text))], tmp_path)


REGION = """\
users n in 1..1000
param pace = 1 request/s in 0.1..9 request/s
machine small { cpu 2 core; price 1 $/hour }
machine big { cpu 8 core; price 3 $/hour }
network wire { switched; rate 1 Gbit/s }
component page { cpu 2 ms/request }
component query { cpu 1 ms/request }
topology { node web = small * 2; node db = big; link lan = wire between web, db }
stream browse for each user { traffic pace, 9 kB/request; at web { page }; at db { query } }
target cpu 80 %
require { browse.latency <= 9 ms }
"""


@needs_node
def test_instances_have_one_answer(tmp_path: Path) -> None:
    (tmp_path / "region.qps").write_text(REGION, "utf-8")
    using = tmp_path / "using.qps"
    using.write_text(
        'use "region.qps" as eu with population = N * 60 %, web = eu.big * 2\n'
        'use "region.qps" as us with population = N * 40 %, db = eu.db\nusers N in 1..9000\n',
        "utf-8",
    )
    _holds_for([one for one in [queried(using)] if one], tmp_path)


KINDS = {
    "a tie": "require { host.cpu.load <= 50 % }\n",
    "strict": "require { host.cpu.load < 50 % }\n",
    "falls and rises": "measure m = (N - 20)^2 * (N - 40)\nrequire { m <= 1000 }\n",
    "roundings": "measure m = ceil(N / 7) * 3\nrequire { m <= 20 }\n",
    "a pole": "measure m = 1 / (N - 50)\nrequire { m <= 1 }\n",
    "roots": "measure m = sqrt(N) + exp(N / 30) + ln(N) + lambert_w(N)\nrequire { m <= 20 }\n",
    "lower branch": "measure m = lower_lambert_w(-1 / (N + 2))\nrequire { m >= -5 }\n",
    "at most": "require { flow.latency <= 1 ms }\n",
    "never": "measure m = N * 0\nrequire { m <= 1 }\n",
    "floor": "measure m = 100 / N\nrequire { m >= 3 ideal 50 }\n",
    "worst": "quality worst\nmeasure m = N\nrequire { m <= 77 }\n",
    "a target": "target cpu 75 %\n",
    "a target by a number": "param aim = 75 % in 10..100 %\ntarget cpu aim\n",
    "a target and a limit": "target cpu 75 %\nrequire { host.cpu.load <= 90 % }\n",
    "a target that nothing reaches": "target cpu 75 %\nrequire { flow.latency <= 1 ms }\n",
    "cosine": "measure m = 1 + cos(N / 10) + N / 50\nrequire { m <= 3 }\n",
    "arc cosine": "measure m = 4 - acos(1 - N / 1_000_001)\nrequire { m >= 3 ideal 4 }\n",
    "calls lost": "measure m = erlang_b(30 + N / 7, N)\nrequire { m <= 1 % }\n",
    "calls that wait": "measure m = erlang_c(20.5, N / 4)\nrequire { m <= 10 % }\n",
    "little traffic": "measure m = erlang_b(N / 50, 1 + N / 99)\nrequire { m >= 70 % }\n",
    "periodic": "measure m = periodic_wait(N, N / 101)\nrequire { m <= 2.7 }\n",
    "a short M/D/1": "measure m = md1_tail(N / 101, 3)\nrequire { m <= 10 % }\n",
    "a long M/D/1": "measure m = md1_quantile(N / 101, 99 %)\nrequire { m <= 9 }\n",
    "late of many": "measure m = periodic_tail(N, N / 101, 3)\nrequire { m <= 10 % }\n",
    "most of many": "measure m = periodic_quantile(N, N / 101, 99.9 %)\nrequire { m <= 5 }\n",
    "normal": "measure m = normal_tail(3 - N / 30)\nrequire { m <= 40 % }\n",
    "normal turned": "measure m = normal_quantile(N / 101)\nrequire { m <= 1.5 }\n",
    "harmonic": "measure m = harmonic(N)\nrequire { m <= 4.5 }\n",
    "absolute": "measure m = abs(N - 30)\nrequire { m <= 20 }\n",
}
"""Of requirements, each of which a search finds in a way of its own."""


def one_stream(text: str, range_of: str) -> str:
    """Return a spec of one stream, with so many users."""
    return (
        PRELUDE.replace("1..100", range_of) + text + "topology { node host = box }\n"
        "stream flow { traffic N * 1 packet/s; at host { work } }\n"
    )


@needs_node
@pytest.mark.parametrize("range_of", ["1..100", "1..1_000_000"])
def test_every_kind_of_requirement_has_one_answer(range_of: str, tmp_path: Path) -> None:
    found = [one for kind in KINDS.values() if (one := queried(one_stream(kind, range_of)))]
    assert len(found) == len(KINDS)
    _holds_for(found, tmp_path)


JUMPING = [
    CEIL_MACHINES,
    CEIL_MACHINES.replace("50.05", "50"),
    CEIL_MACHINES.replace("50.05", "49.9"),
    CEIL_MACHINES.replace("50.05", "70.1").replace("ceil(N / 20)", "ceil(N * 0.07)"),
    CEIL_OF_SQUARE,
    WRONG_BOTTLENECK,
    MEETING_STEPS.replace("ROOM", "24.5"),
    MEETING_STEPS.replace("ROOM", "21"),
    MEETING_STEPS.replace("ROOM", "26"),
]


@needs_node
def test_loads_that_jump_saturate_in_the_page_where_they_do(tmp_path: Path) -> None:
    found = [one for text in JUMPING if (one := queried(text))]
    assert len(found) == len(JUMPING)
    _holds_for(found, tmp_path)


def _holds_for(found: list[tuple[object, Solution]], tmp_path: Path) -> None:
    """Assert that the page answers for some specs what their solutions are."""
    models = tmp_path / "models.json"
    models.write_text(json.dumps([model for model, _ in found]), "utf-8")
    result = run_module(
        'import { readFileSync } from "node:fs";\n'
        'import { answersOf } from "./tests/scripts/answering.js";\n'
        f"const models = JSON.parse(readFileSync({json.dumps(str(models))}));\n"
        "console.log(JSON.stringify(models.map(answersOf)));"
    )
    answers = json.loads(result)
    assert [one["trouble"] for one in answers] == [None] * len(found)
    pairs = zip(answers, found, strict=True)
    assert [differences(one, solution) for one, (_, solution) in pairs] == [[]] * len(found)


CALLS = """
users N in 1..100000
machine pod {{ cpu 2 core{queueing} }}
network mesh {{ switched; rate 1 Gbit/s; header 66 byte/packet; propagation 1 ms; queueing md1 }}
component work(t) {{ cpu t }}
topology {{
  node web = pod * 4
  node db = pod
  node cache = pod
  link lan = mesh between web, db, cache
}}
stream shop for each web {{
  traffic N * 1 request/s, 2 kB/request, 1448 byte/packet
  at web {{
    work(1 ms/request)
    call db * {share}, sends 300 byte/request {{
      work(4 ms/request)
      call cache * (5/2) {{ work(1 ms/request) }}
    }}
    together {{ call db {{ work(2 ms/request) }}; call cache {{ work(3 ms/request) }} }}
  }}
}}
require {{ shop.latency <= 30 ms; quantile(shop.latency, 95 %) <= {limit} ms }}
"""


@needs_node
@pytest.mark.parametrize("queueing", [", queueing mmc", ""])
@pytest.mark.parametrize("share", ["20 %", "(5/2)", "0.5 %", "100 %", "3"])
def test_calls_have_one_answer(tmp_path: Path, share: str, queueing: str) -> None:
    texts = [CALLS.format(share=share, queueing=queueing, limit=limit) for limit in (40, 90)]
    found = [one for text in texts if (one := queried(text))]
    assert len(found) == len(texts)
    _holds_for(found, tmp_path)
