"""Names of instances, what instances share, and common mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from language.test_instances import (
    APPLICATIONS,
    MANY,
    REGION,
    SCENARIOS,
    USING,
    problems,
)
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.render import plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file, load
from qps.compiler.syntax.format import formatted

# -- two applications on shared machines ----------------------------------------------

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
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    using = write(region=REGION, using=SHARED)
    model = load(using).model
    assert [node.name for node in model.nodes] == [
        "database", "admin", "a.client", "a.web", "b.client", "b.web",
    ]  # fmt: skip
    (fabric,) = model.links
    assert set(fabric.ends) == {node.name for node in model.nodes}
    assert "6 passed, 0 failed" in reported("test", using)
    # What is required of the node of an instance is required of that which it is.
    names = [requirement.name for requirement in model.requirements]
    assert "max(a.web.cpu.utilization, database.cpu.utilization)" in names


# -- names ----------------------------------------------------------------------------

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
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    using = write(region=REGION + SCENARIOS + MANY, using=EVERYWHERE)
    assert problems(using) == []
    assert "5 passed, 0 failed" in reported("test", using)
    rows = json.loads(reported("matrix", using, "m", "--format", "json"))
    assert len(rows["rows"]) == 16
    report = reported("report", using, "-o", using.with_suffix(".html"))
    assert "eu.web" in using.with_suffix(".html").read_text(encoding="utf-8"), report
    known = {scenario.name for scenario in load(using).model.scenarios}
    assert known == {"eu.busy", "us.busy", "both"}  # `many` sets the users of an instance


def test_diff_shows_the_arguments_of_an_instance(
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    write(region=REGION + SCENARIOS)
    one = write(one=USING)
    other = write(other=USING.replace("50 %", "50 %, pace = 1 request/s, web = small2 * 4")
                  + "machine small2 { cpu 3 core }\n")  # fmt: skip
    answer = reported("diff", one, other)
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


# -- traps ----------------------------------------------------------------------------

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
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    using = write(base=BASE, using=IMPORTED.format(" with population = N") + VISIT)
    answer = json.loads(reported("solve", using, "--format", "json"))
    # Both streams work there, and the limit of the file holds: 4 cores, 2 ms a second for each.
    assert answer["bottleneck"]["saturates_at"] == 2000
    assert [r["measure"] for r in answer["requirements"]] == ["base.st.latency"]
    more = reported("solve", "--all", using, "--set", "base.a=base.m*2")
    assert "base.a=base.m*2" in more


def test_what_has_no_users_is_an_instance_without_a_word(write: Callable[..., Path]) -> None:
    batch = BASE.replace("users N in 1..100\n", "").replace("N * 1 request/s", "9 request/s")
    using = write(batch=batch, using='use "batch.qps" as b\n' + BASE)
    model = load(using).model
    assert [stream.name for stream in model.streams] == ["st", "b.st"]
    assert [r.name for r in model.requirements] == ["st.latency", "b.st.latency"]


def test_a_file_under_two_names_is_two(
    write: Callable[..., Path], reported: Callable[..., str]
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
    assert "3 passed, 0 failed" in reported("test", using)


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
    write: Callable[..., Path], reported: Callable[..., str]
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
    assert "1 passed, 0 failed" in reported("test", using)


def test_modes_are_those_of_one_instance_or_chosen(
    write: Callable[..., Path], reported: Callable[..., str]
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
    assert "a.day" in reported("solve", "--all", using, "--set", "mode=a.day")
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
    write: Callable[..., Path], reported: Callable[..., str]
) -> None:
    shop = APPLICATIONS.joinpath("fifteen_services.qps").read_text(encoding="utf-8")
    alone = json.loads(reported("solve", write(shop=shop), "--format", "json", "--quiet"))
    use = 'use "shop.qps" as {} with population = N * {} %\n'
    using = write(
        using=use.format("us", 50) + use.format("eu", 30) + use.format("ap", 20)
        + "users N in 1..1_000_000\n"
    )  # fmt: skip
    answer = json.loads(reported("solve", using, "--format", "json", "--quiet"))
    # Half of all users are one shop's: its limit at 20,930 is 41,860 of all, or one more.
    assert answer["capacity"] in (
        2 * alone["capacity"], 2 * alone["capacity"] + 1,
    )  # fmt: skip
    assert answer["bottleneck"]["resource"] == f"us.{alone['bottleneck']['resource']}"
    assert len(load(using).model.streams) == 15
