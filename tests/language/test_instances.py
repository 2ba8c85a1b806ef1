"""Instances of files: each with everything of its own, and the answer of the text by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from pickle import dumps, loads

import pytest

from helpers.golden_specs import generated
from helpers.nightly import draws, examples, nightly
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.render import plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, check_file, check_source, load

APPLICATIONS = Path(__file__).parents[1] / "applications"

REGION = """\
users n in 1..100000
param size = 10 kB/request
param pace = 0.5 request/s in 0.1..10 request/s
option cache = on
machine small { cpu 2 core; price 0.1 $/hour }
machine pc { }
network mesh { switched; rate 10 Gbit/s }
component page(c) { cpu c }
component query { cpu 3 ms/request }
component none { }
topology {
  node client = pc * n
  node web = small * 4
  node db = small * 3
  link lan = mesh between client, web, db
}
stream browse for each client {
  traffic pace, size, 1448 byte/packet
  at client { none }
  at web { page(2 ms/request); page(1 ms/request) if cache == off }
  at db { query }
  at web { none }
  at client { none }
}
let room = 100 ms
measure margin = room - browse.latency
require { browse.latency <= room; web.cpu.load <= 0.9; max(web.cpu.load, db.cpu.load) <= 0.95 }
"""

SCENARIOS = "scenario busy { pace = 1 request/s; web = small * 2; cache = off }\n"

MANY = "scenario many { n = 500 }\n"

GROUPED = """\
users n in 1..10000
kinds audience of users { light 60 %; heavy 40 % }
param pace by audience { light 1 packet/s; heavy { average 10 packet/s; largest 20 packet/s } }
group room of 8 users
machine pc { cpu 1 core }
machine box { cpu 8 core; nic 1 Gbit/s }
network lan { rate 1 Gbit/s; header 38 byte/packet }
component talk { cpu 1 ms/packet }
component mix { cpu 0.2 ms/packet; merge }
topology { node desk = pc * n; node server = box; link wire = lan between desk, server }
stream voice for each desk {
  traffic pace, 200 byte/packet
  at desk { talk }
  at server { mix in room to all in room }
  at desk { talk }
}
target cpu 70 %, link 50 %
require { voice.latency <= 200 ms }
"""


def by_hand(text: str, prefix: str, users: str) -> str:
    """Return what an instance is: the text with other names and another population."""
    declared = r"(?:param|option|machine|network|component|node|link|stream|measure|let|scenario"
    names = re.findall(declared + r"|group|kinds) (\w+)", text)
    text = re.sub(r"^users .*\n", "", text)
    for name in names:
        text = re.sub(rf"(?<![\w.]){name}\b", f"{prefix}_{name}", text)
    return re.sub(r"\bn\b", f"({users})", text)


def alike(hand: str, *prefixes: str) -> str:
    """Return what is told of a text by hand in the names of instances."""
    for prefix in prefixes:
        hand = hand.replace(f"{prefix}_", f"{prefix}.")
    return hand.replace("hand.qps", "using.qps").replace("hand", "using")


def problems(path: Path) -> list[str]:
    return [found.code.id for found in check_file(path).diagnostics]


# -- an instance is what one would write by hand --------------------------------------

USING = """\
use "region.qps" as eu with population = N * 50 %
use "region.qps" as ap with population = N * 30 %
users N in 1..1_000_000
"""

HAND = (
    "users N in 1..1_000_000\n"
    + by_hand(REGION + SCENARIOS, "eu", "N * 50 %")
    + by_hand(REGION + SCENARIOS, "ap", "N * 30 %")
)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param((), marks=nightly),
        pytest.param(("--scenario", "eu.busy"), marks=nightly),
        pytest.param(("--set", "eu.size=20 kB/request", "--set", "ap.cache=off"), marks=nightly),
        ("--set", "ap.web=ap.small * 9", "--scenario", "ap.busy"),
    ],
)
def test_two_regions_answer_as_the_same_text_by_hand(
    write: Callable[..., Path], reported: Callable[..., str], settings: tuple[str, ...]
) -> None:
    hand, using = write(hand=HAND), write(region=REGION + SCENARIOS + MANY, using=USING)
    of_hand = [re.sub(r"\b(eu|ap)\.", r"\1_", setting) for setting in settings]
    answer = reported("solve", "--all", using, *settings)
    # Advice keeps to the machines of an instance; by hand all machines are at hand.
    warned_at = r"\S+\.qps:\d+:\d+:"
    by_hand_answer = alike(reported("solve", "--all", hand, *of_hand), "eu", "ap")
    assert re.sub(warned_at, "", answer) == re.sub(warned_at, "", by_hand_answer)
    for name in ("browse.latency", "web.cpu", "margin", "lan"):
        whole = ("--format", "markdown")
        by_names = reported("explain", using, f"ap.{name}", *settings, *whole)
        text = reported("explain", hand, f"ap_{name}", *of_hand, *whole)
        places = r" +set at \S+|\S+\.qps:\d+|\((?:using|hand)\.qps[^)]*\)"
        assert re.sub(places, "", by_names) == re.sub(places, "", alike(text, "eu", "ap"))


def test_kinds_groups_and_cases_are_those_of_the_instance(
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    def targets(prefix: str) -> str:
        nodes = f"target {prefix}_server.cpu 70 %, {prefix}_desk.cpu 70 %, {prefix}_wire 50 %"
        own = by_hand(GROUPED, prefix, "N / 2")
        return re.sub(r"target .*", nodes, own)

    use = 'use "grouped.qps" as {} with population = N / 2\n'
    using = write(
        grouped=GROUPED, using=use.format("eu") + use.format("ap") + "users N in 2..20000\n"
    )
    hand = write(hand="users N in 2..20000\n" + targets("eu") + targets("ap"))
    one, other = load(using), load(hand)
    # By hand a group divides all users, in an instance its own: only that cannot be written.
    assert one.model.group("eu.room").users is not None
    assert other.model.group("eu_room").users is None
    alone = json.loads(
        reported("solve", write(alone=GROUPED.replace("10000", "20000")), "--format", "json")
    )
    both = json.loads(reported("solve", using, "--format", "json"))
    # Half of the users in each: twice the users of one.
    assert both["capacity"] // 2 == alone["capacity"]
    reported("solve", using, "--set", "case=largest", "--set", "eu.pace.heavy=3 packet/s")


def test_arguments_of_an_instance_replace_what_its_file_states(
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    using = write(
        region=REGION + SCENARIOS,
        using='use "region.qps" as eu with n = N, scenario = busy, size = big * 2,\n'
        "  web = strong * 3, cache = on, mesh = slow\n"
        "param big = 7 kB/request\nmachine strong { cpu 16 core; price 1 $/hour }\n"
        "network slow { switched; rate 2 Gbit/s }\nusers N in 1..1_000_000\n",
    )
    text = by_hand(REGION, "eu", "N").replace("10 kB/request", "big * 2")
    text = text.replace("= 0.5 request/s", "= 1 request/s").replace("eu_small * 4", "strong * 3")
    text = re.sub("network .*\n", "", text).replace("eu_mesh", "slow")
    hand = write(
        hand="param big = 7 kB/request\nmachine strong { cpu 16 core; price 1 $/hour }\n"
        "network slow { switched; rate 2 Gbit/s }\nusers N in 1..1_000_000\n" + text
    )
    answer = reported("solve", using, "--format", "json", "--quiet")
    one, other = (
        json.loads(answer),
        json.loads(alike(reported("solve", hand, "--format", "json"), "eu")),
    )
    assert one["resources"] == other["resources"]
    assert one["requirements"] == other["requirements"]
    assert one["capacity"] == other["capacity"]
    # It stays what it is made of.
    changed = reported("solve", using, "--set", "big=70 kB/request", "--format", "json", "--quiet")
    assert json.loads(changed)["resources"] != one["resources"]


def test_kinds_are_reported_as_a_whole_or_one_by_one(write: Callable[..., Path]) -> None:
    use = 'use "grouped.qps" as {} with population = N, pace{} = 5 packet/s\n'
    using = write(
        grouped=GROUPED,
        using=use.format("one", ".heavy") + use.format("all", "") + "users N in 1..100\n",
    )
    values = {p.name: p.value for p in load(using).model.parameters}
    assert values["one.pace.heavy"] == ir.Constant(Fraction(5))
    assert values["one.pace.light"] == ir.Constant(Fraction(1))
    assert values["all.pace"] == ir.Constant(Fraction(5))
    assert values["all.pace.light"] == values["all.pace.heavy"] == ir.ParameterValue("all.pace")


def test_instances_hold_instances(write: Callable[..., Path], reported: Callable[..., str]) -> None:
    continent = 'use "region.qps" as west with population = m * 60 %\n'
    continent += 'use "region.qps" as east with population = m * 40 %, web = west.small * wide\n'
    continent += "users m in 1..100\nparam wide = 2\nrequire { west.browse.latency <= 90 ms }\n"
    using = write(
        region=REGION,
        continent=continent,
        using='use "continent.qps" as eu with population = N / 2, wide = 8,\n'
        "  west.size = 3 kB/request\n"
        'use "continent.qps" as ap with population = N / 2\nusers N in 1..1_000_000\n',
    )
    spec = load(using)
    names = [node.name for node in spec.model.nodes if node.name.endswith("web")]
    assert names == ["eu.west.web", "eu.east.web", "ap.west.web", "ap.east.web"]
    assert [i.name for i in spec.model.instances if i.users] == [
        "eu", "eu.west", "eu.east", "ap", "ap.west", "ap.east",
    ]  # fmt: skip
    values = {p.name: p.value for p in spec.model.parameters}
    assert values["eu.west.size"] == ir.Constant(Fraction(3 * 8000))
    assert values["ap.west.size"] == ir.Constant(Fraction(10 * 8000))
    assert values["eu.wide"] == ir.Constant(Fraction(8))
    answer = reported("explain", using, "eu.east.web.cpu", "--format", "markdown")
    assert "5 · eu.east.web.cpu.cores · eu.wide)" in " ".join(
        answer.split()
    )  # 20 % of N on so many of them


SHOP = """\
users n in 1..1000
machine pod { cpu 2 core }
network mesh { switched; rate 10 Gbit/s }
component work(t) { cpu t }
topology {
  node gateway = pod * 4
  node auth, cart = pod * 2
  link fabric = mesh between all
}
stream browse for each user {
  traffic 1 request/s, 2 kB/request, 1448 byte/packet
  at gateway {
    work(0.25 ms/request)
    call auth { work(0.4 ms/request) }
    call cart * 30 %, returns 9 kB/request { work(2 ms/request) }
  }
}
group room of 4 users
stream chat for each room {
  traffic 2 request/s, 1 kB/request, 1448 byte/packet
  at gateway { work(0.1 ms/request) }
}
require { browse.latency <= 20 ms }
"""


@pytest.mark.parametrize("users", ["N / 4", "1000", "N * part"])
def test_calls_and_streams_of_users_are_those_of_the_instance(
    write: Callable[..., Path], reported: Callable[..., str], users: str
) -> None:
    using = write(
        shop=SHOP,
        using=f'use "shop.qps" as eu with population = {users}, auth = keys\n'
        "users N in 4000..40000\nparam part = 25 %\n"
        "machine big { cpu 16 core }\ntopology { node keys = big }\n"
        "matrix m { eu.cart in [eu.pod, eu.pod * 4]; part in [25 %, 50 %] }\n",
    )
    alone = write(alone=SHOP.replace("users n in 1..1000", "users n in 1000..1000"))
    one = load(using)
    graph, of_file = lower(one.model, one.configuration()), lower(*_configured(alone))
    at, other = graph.at(4000), of_file.at(1000)
    found = {name: at.number(r.load) for name, r in graph.resources.items()}
    expected = {f"eu.{name}": other.number(r.load) for name, r in of_file.resources.items()}
    assert found["eu.gateway.cpu"] == expected["eu.gateway.cpu"]
    assert found["eu.cart.cpu"] == expected["eu.cart.cpu"]
    assert found["keys.cpu"] == expected["eu.auth.cpu"] / 4  # 16 cores are as good as 4 * 2 * 2
    reported("explain", using, "eu.browse.latency")
    reported("matrix", using, "m")


def test_what_waits_in_an_instance_stands_at_its_places(
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    shop = SHOP.replace("cpu 2 core", "cpu 2 core, queueing mmc").partition("group room")[0]
    hand = write(
        hand="users N in 1..1000\n"
        + by_hand(shop.replace("node auth, cart", "node auth = pod * 2; node cart"), "eu", "N")
    )
    using = write(shop=shop, using='use "shop.qps" as eu with population = N\nusers N in 1..1000\n')
    places = r" +set at \S+|\S+\.qps:\d+|\((?:using|hand)\.qps[^)]*\)"
    for name in ("browse.latency", "gateway.cpu"):
        whole = ("--format", "markdown")
        by_name = reported("explain", using, f"eu.{name}", *whole)
        text = reported("explain", hand, f"eu_{name}", *whole)
        assert re.sub(places, "", by_name) == re.sub(places, "", alike(text, "eu"))


def test_a_spec_with_instances_is_cached_whole(write: Callable[..., Path]) -> None:
    spec = load(write(region=REGION, using=USING.replace("30 %", "30 %, db = eu.db")))
    again = loads(dumps(spec))
    assert (
        lower(again.model, again.configuration()).resources.keys()
        == lower(spec.model, spec.configuration()).resources.keys()
    )
    eu, ap = again.program.main.imports.values()
    assert eu.arguments["n"].module is again.program.main
    assert ap.same["db"].module is eu
    assert [module is again.program.main for module in again.program.modules] == [
        True,
        False,
        False,
    ]


def _configured(path: Path) -> tuple[ir.Model, Configuration]:
    spec = load(path)
    return spec.model, spec.configuration()


EACH = """\
kinds place { us 50 %; eu 30 %; ap 20 % }
param wide by place { us 8; eu 4; ap 2 }
use "region.qps" as region for each place with population = N * place, db = orders,
  web = pod * wide, ap.web = large * 2
users N in 1..1_000_000
machine large { cpu 16 core }
machine pod { cpu 2 core }
topology { node orders = large }
scenario sale { scenario = region.ap.busy; region.eu.web = large }
matrix m { region.eu.web in [pod * 2, pod * 4]; scenario in [region.us.busy, sale] }
require { region.us.browse.latency <= 90 ms }
"""

BY_NAME = """\
kinds place { us 50 %; eu 30 %; ap 20 % }
param wide by place { us 8; eu 4; ap 2 }
use "region.qps" as region_us with population = N * place.us, web = pod * wide.us, db = orders
use "region.qps" as region_eu with population = N * place.eu, web = pod * wide.eu, db = orders
use "region.qps" as region_ap with population = N * place.ap, web = large * 2, db = orders
users N in 1..1_000_000
machine large { cpu 16 core }
machine pod { cpu 2 core }
topology { node orders = large }
scenario sale { scenario = region_ap.busy; region_eu.web = large }
require { region_us.browse.latency <= 90 ms }
"""


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param((), marks=nightly),
        ("--scenario", "sale"),
        pytest.param(("--set", "wide=3"), marks=nightly),
    ],
)
def test_an_instance_for_each_kind_is_one_by_one(
    write: Callable[..., Path], reported: Callable[..., str], settings: tuple[str, ...]
) -> None:
    hand, using = write(region=REGION + SCENARIOS, hand=BY_NAME), write(using=EACH)
    answer = reported("solve", "--all", using, *settings)
    assert answer == alike(reported("solve", "--all", hand, *settings), "region").replace(
        "region_", "region."
    )
    assert "place.eu" in reported("explain", using, "region.eu.web.cpu")
    reported("matrix", using, "m")
    reported("report", using, "-o", using.with_suffix(".html"))


# -- a law: an instance with the users of the spec is the spec ------------------------

ROOT = Path(__file__).parents[2]

WHOLE = [
    path
    for path in sorted([*ROOT.glob("specs/*.qps"), *APPLICATIONS.glob("*.qps")])
    if re.search(r"^users", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def _reported_at(spec: Spec, scenario: str | None) -> dict[tuple[str, int, str], float]:
    """Return what a spec comes to at three populations, in every mode."""
    found: dict[tuple[str, int, str], float] = {}
    for configuration in in_each_mode(spec.model, spec.configuration(scenario)):
        graph = lower(spec.model, configuration)
        values = {f"{name}.utilization": r.load for name, r in graph.resources.items()}
        values |= {f"target of {name}": r.target for name, r in graph.resources.items()}
        values |= {f"{name}.latency": s.mean_latency for name, s in graph.streams.items()}
        values |= {f"{name}.loss": s.loss for name, s in graph.streams.items()}
        values |= {name: measure.value for name, measure in graph.measures.items()}
        values |= {f"limit {n}": one.limit for n, one in enumerate(graph.criteria)}
        values |= {} if graph.quality is None else {"quality": graph.quality}
        for users in {
            configuration.low,
            (configuration.low + configuration.high) // 2,
            configuration.high,
        }:
            at, mode = graph.at(users), configuration.mode or ""
            found |= {(mode, users, name): at.number(value) for name, value in values.items()}
    return {(m.replace("it.", ""), n, v.replace("it.", "")): x for (m, n, v), x in found.items()}


def _assert_same(own: Spec, text: str, folder: Path, name: str) -> None:
    users = own.model.population
    sentence = f'use "{name}" as it with population = N_\nusers N_ in {users.low}..{users.high}\n'
    outcome = check_source(Source(str(folder / "using.qps"), sentence, folder))
    assert outcome.value is not None, plain(outcome.diagnostics)
    using = outcome.value
    offered = {scenario.name for scenario in using.model.scenarios}
    for scenario in (None, *(one.name for one in own.model.scenarios)):
        if scenario is not None and f"it.{scenario}" not in offered:
            assert re.search(rf"scenario {scenario} .*{users.name} = ", text, re.DOTALL)
            continue
        try:
            expected = _reported_at(own, scenario)
        except QpsError:
            with pytest.raises(QpsError):
                _reported_at(using, scenario and f"it.{scenario}")
            continue
        found = _reported_at(using, scenario and f"it.{scenario}")
        assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_spec_as_an_instance_is_the_spec(path: Path) -> None:
    _assert_same(load(path), path.read_text(encoding="utf-8"), path.parent, path.name)


@draws
def test_generated_specs_as_instances_are_these_specs(tmp_path: Path) -> None:
    texts = generated(examples(60))
    for text in texts:
        path = tmp_path / "own.qps"
        path.write_text(text, encoding="utf-8")
        _assert_same(load(path), text, tmp_path, path.name)
