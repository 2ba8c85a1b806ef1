"""Changes of a spec, and what a review finds weaker in each."""

from __future__ import annotations

SPEC = """\
users N in 1..10000 source "plan"
param work = 8 ms/request +- 25 % in 1..20 ms/request source "profile"
param wanted = 1500
param factor = 1
param size = 2 kB/request source "log"
param pace elastic 3..30 byte/s
option cache = off
machine server { cpu 4 core; price 1 $/hour; source "offer" }
machine large { cpu 8 core }
network ether { rate 1 Gbit/s }
let per_item = 10 us/request source "trace"
component page { cpu work; source "profile" }
component log { cpu per_item }
topology {
  node web = server * 1 source "inventory"
  node user = server
  link net = ether between user, web
}
stream pings { traffic pace, 1000 byte/packet; at user { }; over net; at web { } }
stream pages { traffic N * 0.1 request/s, size; at user { }; over net; at web { page; log } }
queueing cpu mmc
target cpu 75 %
require {
  pages.latency <= 100 ms
  quantile(pages.latency, 99 %) <= 400 ms
  pages.loss <= 1 % with 95 % certainty
}
mode busy { pages.latency <= 50 ms }
mode calm { work = 6 ms/request }
scenario sale { work = 10 ms/request }
scenario peak { N = 2000 }
matrix speeds { work in [4, 8, 12 ms/request]; web in [server, large] }
expect promise { largest_acceptable >= wanted; source "contract" }
expect plain { saturation(web.cpu) >= 1000; source "contract" }
expect measured { web.cpu.load ~ 20 % within 2 % with N = 1000; source "load test" }
expect absolute { pages.latency ~ 8 ms within 1 ms with N = 100; source "load test" }
expect fast { quantile(pages.latency, 99 %) <= 90 ms with N = 100; source model }
expect equal { web.cpu.load == 22 % with N = 1100; source model }
expect strict { web.cpu.load < 25 % with N = 900; source model }
expect range { 100 <= largest_acceptable <= 9000; source model }
expect both { pages.latency <= 50 ms and web.cpu.load <= 50 % with N = 700; source model }
expect either { web.cpu.load <= 30 % or pages.latency <= 20 ms with N = 500; source model }
expect sure { probability(pages.latency <= 50 ms) >= 90 % with N = 500; source model }
expect safe { largest_acceptable.p05 >= 900; source model }
expect twin { pages.latency simulated within 5 % with N = 100; source model }
expect twice { web.cpu.load <= 60 % simulated within 5 % with N = 1000; source model }
expect scaled { pages.latency * factor <= 40 ms with N = 500; source model }
expect peaky { web.cpu.load <= 45 % with scenario = peak; source model }
expect every_one { every configuration of speeds: largest_acceptable >= 300; source model }
expect some_one { at least 3 configurations of speeds: largest_acceptable >= 900; source model }
expect no_one { no configuration of speeds where work > 5 ms/request: limited_by == net.load
  source model }
expect larger { max(pages.latency, pings.latency) <= 60 ms with N = 300; source model }
expect beside { pages.latency <= 2 * pings.latency + 50 ms with N = 300; source model }
expect implied { largest_acceptable >= 200; source model }
observe runs "runs.csv" { users -> N; busy in % -> web.cpu.load within 5 %; source "load test" }
"""
_REQUIRED_OF_ALL = "  quantile(pages.latency, 99 %) <= 400 ms\n"

NOTHING: list[str] = []

CASES: dict[str, tuple[str, str, list[str]]] = {
    # What says the same, or more.
    "layout and comments": (
        "expect plain { saturation(web.cpu) >= 1000;",
        "# of the team\nexpect plain {\n  saturation(web.cpu)   >= 1_000\n ",
        NOTHING,
    ),
    "another unit": ("pages.latency <= 100 ms\n", "pages.latency <= 0.1 s\n", NOTHING),
    "a parameter instead of its value": (
        "saturation(web.cpu) >= 1000",
        "saturation(web.cpu) >= wanted - 500",
        NOTHING,
    ),
    "a parameter renamed": ("wanted", "promised", NOTHING),
    "a stream renamed": ("pages", "answers", NOTHING),
    "a node renamed": ("web", "front", NOTHING),
    "a claim renamed": ("expect plain", "expect contract", NOTHING),
    "a claim moved below": (
        'expect plain { saturation(web.cpu) >= 1000; source "contract" }\nexpect measured',
        'expect later { saturation(web.cpu) >= 1000; source "contract" }\nexpect measured',
        NOTHING,
    ),
    "sides turned": ("saturation(web.cpu) >= 1000", "1000 <= saturation(web.cpu)", NOTHING),
    "twice the same": (
        "saturation(web.cpu) >= 1000",
        "2 * saturation(web.cpu) >= 2000",
        NOTHING,
    ),
    "negated twice": (
        "saturation(web.cpu) >= 1000",
        "not saturation(web.cpu) < 1000",
        NOTHING,
    ),
    "with inside": (
        "web.cpu.load < 25 % with N = 900",
        "(web.cpu.load with N = 900) < 25 %",
        NOTHING,
    ),
    "a chain split": (
        "100 <= largest_acceptable <= 9000",
        "largest_acceptable >= 100; largest_acceptable <= 9000",
        NOTHING,
    ),
    "a bound tightened": ("saturation(web.cpu) >= 1000", "saturation(web.cpu) >= 1100", NOTHING),
    "a tolerance tightened": ("within 2 %", "within 1 %", NOTHING),
    "a scenario renamed": ("peak", "rush", NOTHING),
    "a requirement tightened": ("pages.latency <= 100 ms", "pages.latency <= 90 ms", NOTHING),
    "a claim implied by another": (
        "expect implied { largest_acceptable >= 200; source model }\n",
        "",
        NOTHING,
    ),
    "a wider range": ("users N in 1..10000", "users N in 1..20000", NOTHING),
    "new number, new source": (
        '8 ms/request +- 25 % in 1..20 ms/request source "profile"',
        '7 ms/request +- 25 % in 1..20 ms/request source "profile of May"',
        NOTHING,
    ),
    "a matrix extended": (
        "work in [4, 8, 12 ms/request]",
        "work in [2, 4, 8, 12 ms/request]",
        NOTHING,
    ),
    "a claim about fewer": ("limited_by == net.load", "limited_by == net.load ", NOTHING),
    "a model that is otherwise": ("N * 0.1 request/s", "N * 0.2 request/s", NOTHING),
    # Claims.
    "a claim removed": (
        'expect absolute { pages.latency ~ 8 ms within 1 ms with N = 100; source "load test" }\n',
        "",
        ["claim-removed"],
    ),
    "a bound lowered": (
        "saturation(web.cpu) >= 1000",
        "saturation(web.cpu) >= 100",
        ["claim-loosened"],
    ),
    "a parameter of a bound lowered": (
        "param wanted = 1500",
        "param wanted = 150",
        ["claim-loosened"],
    ),
    "a number replaced by a lower parameter": (
        "param wanted = 1500\n",
        "param wanted = 1500\nparam less = 10\n",
        NOTHING,
    ),
    "a bound by a lower parameter": (
        "largest_acceptable >= wanted",
        "largest_acceptable >= wanted / 10",
        ["claim-loosened"],
    ),
    "a factor of a measure halved": ("param factor = 1", "param factor = 0.5", ["claim-loosened"]),
    "a relative tolerance widened": ("within 2 %", "within 40 %", ["claim-loosened"]),
    "an absolute tolerance widened": ("within 1 ms", "within 5 ms", ["claim-loosened"]),
    "an absolute tolerance in place of a relative one": (
        "~ 20 % within 2 %",
        "~ 20 % within (5 / 100)",
        ["claim-loosened"],
    ),
    "a value and its tolerance": ("~ 20 % within 2 %", "~ 30 % within 9 %", ["claim-loosened"]),
    "another value": ("~ 20 % within 2 %", "~ 30 % within 2 %", ["claim-changed"]),
    "a condition added": (
        "saturation(web.cpu) >= 1000;",
        "saturation(web.cpu) >= 1000 with web = large;",
        ["claim-loosened"],
    ),
    "fewer users": (
        "quantile(pages.latency, 99 %) <= 90 ms with N = 100",
        "quantile(pages.latency, 99 %) <= 90 ms with N = 10",
        ["claim-loosened"],
    ),
    "other users of a value": (
        "within 1 ms with N = 100",
        "within 1 ms with N = 10",
        ["claim-changed"],
    ),
    "the current name of a utilization": (
        "web.cpu.load < 25 %",
        "web.cpu.utilization < 25 %",
        NOTHING,
    ),
    "the current name of a percentile": (
        "quantile(pages.latency, 99 %) <= 90 ms with N = 100",
        "pages.p99 <= 90 ms with N = 100",
        NOTHING,
    ),
    "== to <=": ("web.cpu.load == 22 %", "web.cpu.load <= 22 %", ["claim-loosened"]),
    "< to <=": ("web.cpu.load < 25 %", "web.cpu.load <= 25 %", ["claim-loosened"]),
    "<= to >=": ("web.cpu.load < 25 %", "web.cpu.load > 2 %", ["claim-changed"]),
    "an end dropped": (
        "100 <= largest_acceptable <= 9000",
        "largest_acceptable <= 9000",
        NOTHING,  # `plain` claims more than 100
    ),
    "the other end dropped": (
        "100 <= largest_acceptable <= 9000",
        "100 <= largest_acceptable",
        ["claim-loosened"],
    ),
    "a part dropped": (
        "pages.latency <= 50 ms and web.cpu.load <= 50 % with N = 700",
        "web.cpu.load <= 50 % with N = 700",
        ["claim-loosened"],
    ),
    "an alternative added": (
        "web.cpu.load <= 50 % with N = 700",
        "(web.cpu.load <= 50 % or pages.loss <= 3 %) with N = 700",
        ["claim-loosened"],
    ),
    "a looser bound or an alternative": (
        "web.cpu.load < 25 %",
        "(web.cpu.load < 50 % or pages.loss <= 3 %)",
        ["claim-loosened"],
    ),
    "a further and a looser alternative": (
        "web.cpu.load <= 30 % or",
        "web.cpu.load <= 80 % or pages.loss <= 1 % or",
        ["claim-loosened"],
    ),
    "a stricter alternative": (
        "web.cpu.load <= 30 % or",
        "web.cpu.load <= 30 % and pages.loss <= 1 % or",
        NOTHING,
    ),
    "a comparison of numbers instead": ("web.cpu.load < 25 %", "1 < 2", ["claim-loosened"]),
    "a measure multiplied by nothing": (
        "web.cpu.load < 25 %",
        "0 * web.cpu.load < 25 %",
        ["claim-loosened"],
    ),
    "a comparison of numbers beside": (
        "web.cpu.load < 25 % with",
        "(web.cpu.load < 25 % or 1 < 2) with",
        ["claim-loosened"],
    ),
    "a comparison of numbers in a matrix claim": (
        "every configuration of speeds: largest_acceptable >= 300",
        "every configuration of speeds: 0 * largest_acceptable <= 300",
        ["claim-loosened"],
    ),
    "the smaller of two": (
        "web.cpu.load < 25 %",
        "min(web.cpu.load, user.cpu.load) < 25 %",
        ["claim-loosened"],
    ),
    "the larger of two is above": (
        "saturation(web.cpu) >= 1000",
        "max(saturation(web.cpu), saturation(net)) >= 1000",
        ["claim-loosened"],
    ),
    "the smaller of two written as alternatives": (
        "web.cpu.load <= 30 % or pages.latency <= 20 ms",
        "pages.latency <= 20 ms or web.cpu.load <= 30 %",
        NOTHING,
    ),
    "an alternative in a probability": (
        "probability(pages.latency <= 50 ms)",
        "probability(pages.latency <= 50 ms or pages.loss <= 50 %)",
        ["claim-loosened"],
    ),
    "an alternative in a matrix claim": (
        "every configuration of speeds: largest_acceptable >= 300",
        "every configuration of speeds: largest_acceptable >= 300 or pages.latency <= 1 s",
        ["claim-loosened"],
    ),
    "a looser bound or an alternative in a matrix claim": (
        "every configuration of speeds: largest_acceptable >= 300",
        "every configuration of speeds: largest_acceptable >= 30 or limited_by == net.load",
        ["claim-loosened"],
    ),
    "an alternative that must not be": (
        "limited_by == net.load",
        "limited_by == net.load or limited_by == user.cpu.load",
        NOTHING,
    ),
    "an alternative loosened": (
        "pages.latency <= 20 ms",
        "pages.latency <= 2 s",
        ["claim-loosened"],
    ),
    "a probability lowered": (">= 90 % with N = 500", ">= 50 % with N = 500", ["claim-loosened"]),
    "a condition of a probability loosened": (
        "probability(pages.latency <= 50 ms)",
        "probability(pages.latency <= 500 ms)",
        ["claim-loosened"],
    ),
    "a quantile lowered": (
        "quantile(pages.latency, 99 %) <= 90 ms",
        "quantile(pages.latency, 90 %) <= 90 ms",
        ["claim-loosened"],
    ),
    "a mean instead of a quantile": (
        "quantile(pages.latency, 99 %) <= 90 ms",
        "pages.latency <= 90 ms",
        ["claim-loosened"],
    ),
    "a quantile of the answer": (
        "largest_acceptable.p05",
        "largest_acceptable.p50",
        ["claim-loosened"],
    ),
    "a simulation dropped": (
        "web.cpu.load <= 60 % simulated within 5 %",
        "web.cpu.load <= 60 %",
        ["claim-loosened"],
    ),
    "a simulation at a wider tolerance": (
        "pages.latency simulated within 5 %",
        "pages.latency simulated within 50 %",
        ["claim-loosened"],
    ),
    "a claim said to be missed": (
        'with N = 1000; source "load test" }\nexpect abs',
        'with N = 1000; source "load test"; missed "the cache" }\nexpect abs',
        ["claim-loosened"],
    ),
    "a scenario of a claim made easier": ("N = 2000", "N = 20", ["claim-loosened"]),
    "another measure": ("web.cpu.load < 25 %", "user.cpu.load < 25 %", ["claim-changed"]),
    "renamed and loosened": (
        "expect plain { saturation(web.cpu) >= 1000",
        "expect other { saturation(web.cpu) >= 10",
        ["claim-loosened"],
    ),
    "every to some": ("every configuration", "some configuration", ["claim-loosened"]),
    "at least fewer": ("at least 3", "at least 2", ["claim-loosened"]),
    "a matrix claim's bound": (
        "largest_acceptable >= 300",
        "largest_acceptable >= 30",
        ["claim-loosened"],
    ),
    "a matrix claim of fewer": (
        "every configuration of speeds:",
        "every configuration of speeds where work < 5 ms/request:",
        ["claim-loosened"],
    ),
    "no configuration of fewer": ("work > 5 ms", "work > 9 ms", ["claim-loosened"]),
    "an observation gone": (SPEC.splitlines()[-1], "", ["claim-removed"]),
    "an observation's tolerance": ("within 5 %; source", "within 50 %; source", ["claim-loosened"]),
    "an observation renamed": ("observe runs", "observe load_test", NOTHING),
    "an observation renamed and loosened": (
        'observe runs "runs.csv" { users -> N; busy in % -> web.cpu.load within 5 %',
        'observe load_test "runs.csv" { users -> N; busy in % -> web.cpu.load within 50 %',
        ["claim-loosened"],
    ),
    "an observation's share as an amount": (
        "load within 5 %; source",
        "load within (5 / 100); source",
        ["claim-loosened"],
    ),
    "an observation's share as a smaller amount": (
        "load within 5 %; source",
        "load within (1 / 1000); source",
        NOTHING,
    ),
    "an observation not judged": (" within 5 %; source", "; source", ["claim-loosened"]),
    # Requirements.
    "a limit raised": ("latency <= 100 ms", "latency <= 200 ms", ["requirement-loosened"]),
    "a quantile of a requirement lowered": (
        "quantile(pages.latency, 99 %) <= 400 ms",
        "quantile(pages.latency, 95 %) <= 400 ms",
        ["requirement-loosened"],
    ),
    "a requirement dropped": (
        "  quantile(pages.latency, 99 %) <= 400 ms\n",
        "",
        ["requirement-loosened"],
    ),
    "a certainty lowered": ("with 95 % certainty", "with 60 % certainty", ["requirement-loosened"]),
    "a certainty dropped": (" with 95 % certainty", "", ["requirement-loosened"]),
    "a requirement of one mode only": (
        _REQUIRED_OF_ALL + "  pages.loss <= 1 % with 95 % certainty\n}\nmode busy { pages",
        "  pages.loss <= 1 % with 95 % certainty\n}\nmode busy {" + _REQUIRED_OF_ALL + "pages",
        ["requirement-loosened"],
    ),
    "a mode's own limit": (
        "mode calm { work",
        "mode calm { pages.latency <= 5 s; work",
        ["requirement-loosened"],
    ),
    "a mode removed": ("mode busy { pages.latency <= 50 ms }\n", "", ["mode-removed"]),
    "a scenario removed": ("scenario sale { work = 10 ms/request }\n", "", ["scenario-removed"]),
    "a mode added": (
        "mode busy {",
        "mode idle { work = 2 ms/request; pages.latency <= 1 s }\nmode busy {",
        NOTHING,
    ),
    "a target of one place": (
        "target cpu 75 %",
        "target cpu 75 %, web.cpu 95 %",
        ["requirement-loosened"],
    ),
    "a target of one place, lower": ("target cpu 75 %", "target cpu 75 %, web.cpu 65 %", NOTHING),
    "a target of links": ("target cpu 75 %", "target cpu 75 %, link 65 %", NOTHING),
    "a target raised": ("target cpu 75 %", "target cpu 95 %", ["requirement-loosened"]),
    "a target dropped": ("target cpu 75 %\n", "", ["requirement-loosened"]),
    "an elastic least lowered": ("elastic 3..30", "elastic 1..30", ["requirement-loosened"]),
    # What is covered, and sources.
    "fewer users covered": ("users N in 1..10000", "users N in 1..5000", ["range-narrowed"]),
    "a narrower parameter": ("in 1..20 ms/request", "in 2..15 ms/request", ["range-narrowed"]),
    "a narrower spread": ("+- 25 %", "+- 5 %", ["range-narrowed"]),
    "a spread dropped": (" +- 25 %", "", ["range-narrowed"]),
    "a matrix narrowed": ("work in [4, 8, 12 ms", "work in [4, 8 ms", ["matrix-narrowed"]),
    "an axis dropped": ("; web in [server, large]", "", ["matrix-narrowed"]),
    "more excluded": (
        "web in [server, large] }",
        "web in [server, large]; exclude web == large }",
        ["matrix-narrowed"],
    ),
    "a number under the same source": ("= 8 ms/request", "= 7 ms/request", ["source-changed"]),
    "a source removed": (' source "log"', "", ["source-changed"]),
    "a source changed": ('source "offer"', 'source "another"', ["source-changed"]),
    "a component under the same source": (
        "cpu work; source",
        "cpu work * 0.5; source",
        ["source-changed"],
    ),
    "a component's source without its number": (
        'cpu work; source "profile"',
        'cpu work; source "another"',
        ["source-changed"],
    ),
    "a parameter and all that cites it": ('"profile"', '"profile of May"', ["source-changed"] * 2),
    "a parameter with its new source, and a component that rests on it": (
        's/request source "profile"\n',
        's/request source "profile"\n',
        NOTHING,
    ),
    "a named expression under the same source": (
        "10 us/request",
        "5 us/request",
        ["source-changed"],
    ),
    "a count under the same source": ("server * 1 source", "server * 2 source", ["source-changed"]),
    "one of two maxima dropped": (
        "max(pages.latency, pings.latency) <= 60 ms",
        "pages.latency <= 60 ms",
        ["claim-loosened"],
    ),
    "two maxima written apart": (
        "max(pages.latency, pings.latency) <= 60 ms with N = 300",
        "pages.latency <= 60 ms and pings.latency <= 60 ms with N = 300",
        NOTHING,
    ),
    "a larger multiple": ("2 * pings.latency", "9 * pings.latency", ["claim-loosened"]),
    "a smaller multiple": ("2 * pings.latency", "pings.latency", NOTHING),
    "a claim's source": (
        'saturation(web.cpu) >= 1000; source "contract"',
        "saturation(web.cpu) >= 1000; source model",
        ["source-changed"],
    ),
}
