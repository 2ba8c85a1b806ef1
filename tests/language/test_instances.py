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
from qps.cli import main
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.render import plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, check_file, check_source, load
from qps.compiler.syntax.format import formatted
from qps.reports.text.words.labels import PLAIN

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


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what writes files here, the last one being the spec that is asked for.

    Places are told by name alone: where the folder's is long, they would be cut.
    """
    monkeypatch.chdir(tmp_path)

    def written(**texts: str) -> Path:
        for name, text in texts.items():
            Path(f"{name}.qps").write_text(text, encoding="utf-8")
        return Path(f"{name}.qps")

    return written


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what runs a command that must go well, and gives what it prints.

    Answers have identifiers: words of an instance are other ones than those of a long name.
    """
    monkeypatch.setattr("qps.commands.solve.labels_of", lambda _: PLAIN)
    monkeypatch.setenv("COLUMNS", "2000")  # names of several lengths wrap at other words

    def run(*arguments: str | Path) -> str:
        assert main([str(argument) for argument in arguments]) == 0, capsys.readouterr().err
        out = capsys.readouterr().out.replace("\\_", "_")
        return re.sub(r"(?<=\S) {2,}(?=\S)", "  ", out)  # files have names of several lengths

    return run


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


# -- an instance is what one would write by hand ---------------------------------------------

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
    write: Callable[..., Path], told: Callable[..., str], settings: tuple[str, ...]
) -> None:
    hand, using = write(hand=HAND), write(region=REGION + SCENARIOS + MANY, using=USING)
    of_hand = [re.sub(r"\b(eu|ap)\.", r"\1_", setting) for setting in settings]
    answer = told("solve", "--all", using, *settings)
    # Advice keeps to the machines of an instance; by hand all machines are at hand.
    warned_at = r"\S+\.qps:\d+:\d+:"
    by_hand_answer = alike(told("solve", "--all", hand, *of_hand), "eu", "ap")
    assert re.sub(warned_at, "", answer) == re.sub(warned_at, "", by_hand_answer)
    for name in ("browse.latency", "web.cpu", "margin", "lan"):
        whole = ("--format", "markdown")
        by_names = told("explain", using, f"ap.{name}", *settings, *whole)
        text = told("explain", hand, f"ap_{name}", *of_hand, *whole)
        places = r" +set at \S+|\S+\.qps:\d+|\((?:using|hand)\.qps[^)]*\)"
        assert re.sub(places, "", by_names) == re.sub(places, "", alike(text, "eu", "ap"))


def test_kinds_groups_and_cases_are_those_of_the_instance(
    write: Callable[..., Path], told: Callable[..., str]
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
        told("solve", write(alone=GROUPED.replace("10000", "20000")), "--format", "json")
    )
    both = json.loads(told("solve", using, "--format", "json"))
    # Half of the users in each: twice the users of one.
    assert both["capacity"] // 2 == alone["capacity"]
    told("solve", using, "--set", "case=largest", "--set", "eu.pace.heavy=3 packet/s")


def test_arguments_of_an_instance_replace_what_its_file_states(
    write: Callable[..., Path], told: Callable[..., str]
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
    answer = told("solve", using, "--format", "json", "--quiet")
    one, other = (
        json.loads(answer),
        json.loads(alike(told("solve", hand, "--format", "json"), "eu")),
    )
    assert one["resources"] == other["resources"]
    assert one["requirements"] == other["requirements"]
    assert one["capacity"] == other["capacity"]
    # It stays what it is made of.
    changed = told("solve", using, "--set", "big=70 kB/request", "--format", "json", "--quiet")
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


def test_instances_hold_instances(write: Callable[..., Path], told: Callable[..., str]) -> None:
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
    answer = told("explain", using, "eu.east.web.cpu", "--format", "markdown")
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
    write: Callable[..., Path], told: Callable[..., str], users: str
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
    told("explain", using, "eu.browse.latency")
    told("matrix", using, "m")


def test_what_waits_in_an_instance_stands_at_its_places(
    write: Callable[..., Path], told: Callable[..., str]
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
        by_name = told("explain", using, f"eu.{name}", *whole)
        text = told("explain", hand, f"eu_{name}", *whole)
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
    write: Callable[..., Path], told: Callable[..., str], settings: tuple[str, ...]
) -> None:
    hand, using = write(region=REGION + SCENARIOS, hand=BY_NAME), write(using=EACH)
    answer = told("solve", "--all", using, *settings)
    assert answer == alike(told("solve", "--all", hand, *settings), "region").replace(
        "region_", "region."
    )
    assert "place.eu" in told("explain", using, "region.eu.web.cpu")
    told("matrix", using, "m")
    told("report", using, "-o", using.with_suffix(".html"))


# -- two applications on shared machines -----------------------------------------------------

SHARED = """\
use "region.qps" as a with population = N * 50 %, db = database, lan = fabric
use "region.qps" as b with population = N * 50 %, db = a.db, lan = fabric
users N in 1..1_000_000
machine big { cpu 32 core }
network wide { switched; rate 40 Gbit/s }
component audit { cpu 1 ms/request }
topology {
  node database = big
  node admin = a.pc
  link fabric = wide between admin, database
}
stream manage {
  traffic 1 request/s, 1 kB/request, 1448 byte/packet
  at admin { a.none }
  at a.web { audit }
  at database { a.query; audit }
}
expect of_both {
  database.cpu.load ~ 0.000046875 * 64 + 0.004/32 within 0 % with N = 64
  a.db.cpu.load == b.db.cpu.load with N = 10
  share(a.query, database.cpu) > share(b.query, database.cpu) with N = 10
  fabric.a.web.out.load > fabric.b.web.out.load with N = 10
  a.web.cpu.load > b.web.cpu.load with N = 10
  a.browse.latency == b.browse.latency with N = 10
  source model
}
"""


def test_instances_share_nodes_and_links_of_the_spec(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    using = write(region=REGION, using=SHARED)
    model = load(using).model
    assert [node.name for node in model.nodes] == [
        "database", "admin", "a.client", "a.web", "b.client", "b.web",
    ]  # fmt: skip
    (fabric,) = model.links
    assert set(fabric.ends) == {node.name for node in model.nodes}
    assert "6 passed, 0 failed" in told("test", using)
    # What is required of the node of an instance is required of that which it is.
    names = [requirement.name for requirement in model.requirements]
    assert "max(a.web.cpu.utilization, database.cpu.utilization)" in names


# -- names -----------------------------------------------------------------------------------

EVERYWHERE = """\
use "region.qps" as eu with population = N * 50 %
use "region.qps" as us with population = N * 50 %
users N in 1..1_000_000
scenario both { scenario = eu.busy; us.web = us.small * 3 }
require { us.margin >= 1 ms }
target eu.web.cpu 60 %
let half = count(us.client) / 2
measure most = max(eu.browse.latency, us.browse.latency)
expect names {
  (largest_acceptable with scenario = both) < largest_acceptable
  eu.web.cpu.load < 1 with N = 100, eu.pace = 1 request/s, eu.db = us.small * 9
  saturation(eu.web.cpu) > saturation(us.web.cpu) with us.web = us.small * 2
  quantile(eu.browse.latency, 50 %) < 1 s with N = 5
  half == 25 with N = 100
  source model
}
matrix m {
  eu.web in [eu.small * 4, eu.small * 8]
  us.cache in [on, off]
  eu.size in 1..2 kB/request by 1 kB/request
  scenario in [eu.busy, both]
  where bottleneck != us.db.cpu or limited_by != us.web.cpu.load
  column best = us.margin
}
figure f { over eu.pace in 1..3 request/s; line us.web.cpu.load + eu.web.cpu.load with N = 10 }
figure g { over N in 1..100; loads }
"""


def test_names_of_instances_stand_wherever_names_do(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    using = write(region=REGION + SCENARIOS + MANY, using=EVERYWHERE)
    assert problems(using) == []
    assert "5 passed, 0 failed" in told("test", using)
    rows = json.loads(told("matrix", using, "m", "--format", "json"))
    assert len(rows["rows"]) == 16
    report = told("report", using, "-o", using.with_suffix(".html"))
    assert "eu.web" in using.with_suffix(".html").read_text(encoding="utf-8"), report
    known = {scenario.name for scenario in load(using).model.scenarios}
    assert known == {"eu.busy", "us.busy", "both"}  # `many` sets the users of an instance


def test_diff_shows_the_arguments_of_an_instance(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    write(region=REGION + SCENARIOS)
    one = write(one=USING)
    other = write(other=USING.replace("50 %", "50 %, pace = 1 request/s, web = small2 * 4")
                  + "machine small2 { cpu 3 core }\n")  # fmt: skip
    answer = told("diff", one, other)
    assert "eu.pace" in answer
    assert "eu.web" in answer


def test_the_name_of_an_instance_may_be_that_of_a_unit(write: Callable[..., Path]) -> None:
    using = write(
        region=REGION,
        using='use "region.qps" as us with population = N\nusers N in 1..10\n'
        "param wait = 20 us\nrequire { us.browse.latency <= wait * 100000 }\n",
    )
    assert problems(using) == []


def test_fmt_preserves_the_arguments_of_an_instance() -> None:
    text = (
        'use "region.qps"   as eu with population=N*50%  ,\n'
        "# the big ones\nweb = big*3 # three\nusers N in 1..10\n"
    )
    layout = formatted(Source("using.qps", text)).value
    assert layout is not None
    assert 'use "region.qps" as eu with population = N' in layout
    assert "# the big ones" in layout
    assert "# three" in layout
    assert formatted(Source("using.qps", layout)).value == layout


# -- traps -----------------------------------------------------------------------------------

BASE = """\
users N in 1..100
param c = 1
machine m { cpu 4 core }
component e { cpu 1 ms/request }
topology { node a = m }
stream st { traffic N * 1 request/s; at a { e } }
require { st.latency <= 10 ms }
"""
IMPORTED = 'use "base.qps" as base{}\nusers N in 1..100000\n'
VISIT = "stream st { traffic N * 1 request/s; at base.a { base.e } }\n"


def test_a_file_with_users_is_no_module_that_is_used_in_part(write: Callable[..., Path]) -> None:
    using = write(base=BASE, using=IMPORTED.format("") + VISIT)
    (found,) = check_file(using).diagnostics
    assert found.code is codes.MISSING_PART
    assert "with population = N" in plain([found])
    assert main(["solve", str(using), "--set", "base.a=base.m*2", "--quiet"]) == 2


def test_a_stream_may_visit_the_node_of_an_instance(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    using = write(base=BASE, using=IMPORTED.format(" with population = N") + VISIT)
    answer = json.loads(told("solve", using, "--format", "json"))
    # Both streams work there, and the limit of the file holds: 4 cores, 2 ms a second for each.
    assert answer["bottleneck"]["saturates_at"] == 2000
    assert [r["measure"] for r in answer["requirements"]] == ["base.st.latency"]
    more = told("solve", "--all", using, "--set", "base.a=base.m*2")
    assert "base.a=base.m*2" in more


def test_what_has_no_users_is_an_instance_without_a_word(write: Callable[..., Path]) -> None:
    batch = BASE.replace("users N in 1..100\n", "").replace("N * 1 request/s", "9 request/s")
    using = write(batch=batch, using='use "batch.qps" as b\n' + BASE)
    model = load(using).model
    assert [stream.name for stream in model.streams] == ["st", "b.st"]
    assert [r.name for r in model.requirements] == ["st.latency", "b.st.latency"]


def test_a_file_under_two_names_is_two(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    hardware = "param c = 1\nmachine mc { cpu c * 1 core }\n"
    using = write(
        hardware=hardware,
        using='use "hardware.qps" as one\nuse "hardware.qps" as two\n'
        'use "hardware.qps" as three with c = 4\n'
        "users N in 1..100000\ncomponent e { cpu 1 ms/request }\n"
        "topology { node x = one.mc; node y = two.mc; node z = three.mc }\n"
        + "".join(f"stream s{n} {{ traffic N * 1 request/s; at {n} {{ e }} }}\n" for n in "xyz")
        + "scenario s1 { one.c = 4 }\n"
        "expect z { x.cpu.load ~ 0.025 % within 0 % with N = 1, scenario = s1\n"
        " y.cpu.load ~ 0.1 % within 0 % with N = 1, scenario = s1\n"
        " z.cpu.load ~ 0.025 % within 0 % with N = 1\n source model }\n",
    )
    assert "3 passed, 0 failed" in told("test", using)


def test_a_file_that_two_modules_use_is_one(write: Callable[..., Path]) -> None:
    write(hardware="param c = 1\nmachine mc { cpu c * 1 core }\n")
    write(parts='use "hardware.qps" as hw\nmachine two { cpu hw.c * 2 core }\n')
    using = write(
        using='use "hardware.qps" as hw\nuse "parts.qps" as parts\nusers N in 1..9\n'
        "component e { cpu 1 ms/request }\ntopology { node x = parts.two }\n"
        "stream v { traffic N * 1 request/s; at x { e } }\n"
    )
    assert [p.name for p in load(using).model.parameters] == ["hw.c"]


def test_the_machine_of_an_instance_is_one_that_was_measured(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    """The costs for the very machine count, also where another instance calls it otherwise."""
    write(hw="unit mark of rating\nmachine a { cpu 100 mark }\nmachine b { cpu 400 mark }\n")
    write(
        app='use "hw.qps" as hw\nusers n in 1..9\ncomponent e { cpu 8 ms/request measured on hw.a; '
        "cpu 3 ms/request measured on hw.b }\ntopology { node x = hw.a }\n"
        "stream v { traffic n * 1 request/s; at x { e } }\n"
    )
    using = write(
        using='use "hw.qps" as hw\nuse "app.qps" as app with population = N, x = hw.b\n'
        "users N in 1..9\nexpect z { app.x.cpu.load ~ 0.3 % within 0 % with N = 1; source model }\n"
    )
    assert "1 passed, 0 failed" in told("test", using)


def test_modes_are_those_of_one_instance_or_chosen(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    modes = (
        "quality worst\nmode day { st.latency <= 9 ms }\nmode night { st.latency <= 3 ms; c = 2 }\n"
    )
    use = 'use "base.qps" as {} with population = N{}\n'
    write(base=BASE.replace("cpu 1 ms", "cpu c * 1 ms") + modes)
    users = "users N in 1..1000\n"
    using = write(using=use.format("a", "") + use.format("b", ", mode = night") + users)
    model = load(using).model
    assert [mode.name for mode in model.modes] == ["a.day", "a.night"]
    assert [r.limit.text for r in model.requirements] == ["10 ms", "10 ms", "3 ms"]
    assert "a.day" in told("solve", "--all", using, "--set", "mode=a.day")
    both = write(both=use.format("a", "") + use.format("b", "") + users)
    assert problems(both) == [codes.MISPLACED.id]


def test_targets_hold_where_they_are_stated(write: Callable[..., Path]) -> None:
    using = write(
        base=BASE + "target cpu 70 %\n",
        plain=BASE,
        using='use "base.qps" as a with population = N\nuse "plain.qps" as b with population = N\n'
        'use "base.qps" as third with population = N, a = own\n'
        + BASE.replace("node a", "node own").replace("at a", "at own")
        + "target cpu 80 %, third.a.cpu 60 %\n",
    )
    spec = load(using)
    graph = lower(spec.model, spec.configuration())
    found = {name: graph.number(r.target) for name, r in graph.resources.items()}
    assert found == {"own.cpu": 0.6, "a.a.cpu": 0.7, "b.a.cpu": 0.8}


SHARING = """\
use "one.qps" as one with population = N, a = own
use "other.qps" as other with population = N, a = own
users N in 1..1000
machine pod { cpu 4 core }
topology { node own = pod }
"""


@pytest.mark.parametrize(
    ("one", "other", "around", "agrees"),
    [
        ("target a 70 %", "target a 60 %", "", False),
        ("target a 70 %", "target a 70 %", "", True),
        ("target a 70 %", "target a 60 %", "target own 65 %", True),
        ("target a.cpu 70 %", "target a 60 %", "target own 65 %", False),
        ("target cpu 70 %", "target cpu 60 %", "", True),
        ("queueing a mm1", "queueing a md1", "", False),
        ("queueing a.cpu mg1 cv 2", "queueing a mg1 cv 2", "", True),
        ("queueing a.cpu mg1 cv 2", "queueing a mg1 cv 3", "", False),
        ("queueing a mm1", "queueing a md1", "queueing own mmc", True),
    ],
)
def test_instances_say_one_thing_of_a_node_that_they_share(
    write: Callable[..., Path], one: str, other: str, around: str, agrees: bool
) -> None:
    """What the first of them said was taken, without a word."""
    write(one=f"{BASE}\n{one}\n", other=f"{BASE}\n{other}\n")
    assert problems(write(using=f"{SHARING}\n{around}\n")) == [codes.MISPLACED.id] * (not agrees)


def test_many_instances_are_bounded(write: Callable[..., Path]) -> None:
    """Twice as many on each level: that would be 256 on the eighth."""
    write(level8=BASE)
    for level in range(7, 0, -1):
        uses = "".join(
            f'use "level{level + 1}.qps" as {n} with population = N\n' for n in ("left", "right")
        )
        write(**{f"level{level}": uses + BASE})
    using = write(using='use "level1.qps" as top with population = N\nusers N in 1..10\n')
    assert codes.UNKNOWN_MODULE.id in problems(using)


def test_three_regions_of_fifteen_services_take_four_lines(
    write: Callable[..., Path], told: Callable[..., str]
) -> None:
    shop = APPLICATIONS.joinpath("fifteen_services.qps").read_text(encoding="utf-8")
    alone = json.loads(told("solve", write(shop=shop), "--format", "json", "--quiet"))
    use = 'use "shop.qps" as {} with population = N * {} %\n'
    using = write(
        using=use.format("us", 50) + use.format("eu", 30) + use.format("ap", 20)
        + "users N in 1..1_000_000\n"
    )  # fmt: skip
    answer = json.loads(told("solve", using, "--format", "json", "--quiet"))
    # Half of all users are one shop's: its limit at 20,930 is 41,860 of all, or one more.
    assert answer["capacity"] in (
        2 * alone["capacity"], 2 * alone["capacity"] + 1,
    )  # fmt: skip
    assert answer["bottleneck"]["resource"] == f"us.{alone['bottleneck']['resource']}"
    assert len(load(using).model.streams) == 15


# -- a law: an instance with the users of the spec is the spec -------------------------------

ROOT = Path(__file__).parents[2]
WHOLE = [
    path
    for path in sorted([*ROOT.glob("specs/*.qps"), *APPLICATIONS.glob("*.qps")])
    if re.search(r"^users", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def _told_at(spec: Spec, scenario: str | None) -> dict[tuple[str, int, str], float]:
    """Return what a spec comes to at three populations, in every mode."""
    found: dict[tuple[str, int, str], float] = {}
    for settled in in_each_mode(spec.model, spec.configuration(scenario)):
        graph = lower(spec.model, settled)
        values = {f"{name}.utilization": r.load for name, r in graph.resources.items()}
        values |= {f"target of {name}": r.target for name, r in graph.resources.items()}
        values |= {f"{name}.latency": s.mean_latency for name, s in graph.streams.items()}
        values |= {f"{name}.loss": s.loss for name, s in graph.streams.items()}
        values |= {name: measure.value for name, measure in graph.measures.items()}
        values |= {f"limit {n}": one.limit for n, one in enumerate(graph.criteria)}
        values |= {} if graph.quality is None else {"quality": graph.quality}
        for users in {settled.low, (settled.low + settled.high) // 2, settled.high}:
            at, mode = graph.at(users), settled.mode or ""
            found |= {(mode, users, name): at.number(value) for name, value in values.items()}
    return {(m.replace("it.", ""), n, v.replace("it.", "")): x for (m, n, v), x in found.items()}


def _assert_same(own: Spec, text: str, folder: Path, name: str) -> None:
    users = own.model.population
    told = f'use "{name}" as it with population = N_\nusers N_ in {users.low}..{users.high}\n'
    outcome = check_source(Source(str(folder / "using.qps"), told, folder))
    assert outcome.value is not None, plain(outcome.diagnostics)
    using = outcome.value
    offered = {scenario.name for scenario in using.model.scenarios}
    for scenario in (None, *(one.name for one in own.model.scenarios)):
        if scenario is not None and f"it.{scenario}" not in offered:
            assert re.search(rf"scenario {scenario} .*{users.name} = ", text, re.DOTALL)
            continue
        try:
            expected = _told_at(own, scenario)
        except QpsError:
            with pytest.raises(QpsError):
                _told_at(using, scenario and f"it.{scenario}")
            continue
        found = _told_at(using, scenario and f"it.{scenario}")
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
