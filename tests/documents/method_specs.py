"""Small specs by the method of the table that each reaches, which other specs seldom do."""

from __future__ import annotations

_HEAD = """
users N in 1..4
unit thread
machine box {{ cpu 1 core }}
machine one {{ cpu 1 core, queueing {one} }}
machine four {{ cpu 4 core, queueing {four} }}
machine held {{ cpu 4 core, queueing ps; threads 2 thread }}
component work {{ cpu {work} }}
component more {{ cpu 20 ms/request }}
component idle {{ cpu 1 % }}
component lose {{ drop 10 % }}
component single {{ cpu 5 ms/request single_thread }}
network wire {{ propagation 0.5 ms }}
network lan {{ rate 8 Mbit/s; queueing {lan} }}
network noisy {{ rate 8 Mbit/s; jitter 4 ms^2 }}
topology {{ node a = {a}; node b = {b}; node c = {c}; link l = {link} between all }}
{extra}
"""
_PLAIN = {
    "one": "mm1",
    "four": "mmc",
    "lan": "md1",
    "work": "5 ms/request",
    "a": "one",
    "b": "box",
    "c": "box",
    "link": "wire",
    "extra": "",
}
_KINDS = "kinds sort { x 50 %; y 50 % }\nparam size by sort { x 1; y 3 }"
_SIZED = {"extra": _KINDS, "work": "5 ms/request * size"}
_LATE = "measure late = a.cpu.wait.p95"
_SENT = "at a { work to all b }; over l; at b { }"
_BRANCHES = {"a": "box", "b": "one", "c": "one"}
_HELD = "at a { take threads; call b { work }; give threads }"
_TOGETHER = "at a { together { call b { work }; call c { work } } }"


def _spec(*streams: str, **parts: str) -> str:
    return _HEAD.format(**(_PLAIN | parts)) + "\n".join(streams) + "\n"


def _open(way: str, of: str = "in all", more: str = "", name: str = "s") -> str:
    return f"stream {name} {of} {{ traffic 2 request/s, 1 kB/request{more}; {way} }}"


def _closed(way: str, of: str = "in all", name: str = "s") -> str:
    return f"stream {name} {of} {{ traffic 2 request, 1 kB/request, think 1 s; {way} }}"


SPECS = {
    "any-of-the-copies": _spec(
        *(_closed("at a { take threads; work; give threads }", name=name) for name in "st"),
        a="held * 2",
    ),
    "kinds-averaged": _spec(
        _open("at a { work }", of="for each a").replace("2 request", "pace * 2 request"),
        a="one * N",
        extra="kinds sort of users { x 50 %; y 50 % }\nparam pace by sort { x 1; y 3 }",
    ),
    "fan-out-to-machines": _spec(_open("at a { together 8 { call b { work } } }"), b="one * 2"),
    "calls-that-meet": _spec(
        _open("at a { together { call b { work }; call b { more } } }"), a="box", b="one"
    ),
    "held-while-throttled": _spec(
        _open("at a { take threads; work; give threads }"),
        extra="machine limited { threads 1 thread; "
        "cpu 1 core, queueing quota per 100 ms on 4 core }",
        a="limited",
    ),
    "batch-at-a-room": _spec(_open(_SENT), b="box * 3", link="lan", lan="mm1 room 9"),
    "batch-by-priority": _spec(_open(_SENT), b="box * 3", link="lan", lan="priority"),
    **dict.fromkeys(
        ("cpu-quota", "cpu-quota-percentiles"),
        _spec(_open("at a { work }"), one="quota per 50 ms on 4 core"),
    ),
    "batch-sharing": _spec(_open(_SENT), b="box * 3", link="lan", lan="ps"),
    "priority-waits": _spec(_open("at a { work }"), one="priority", extra=_LATE),
    "sharing-waits": _spec(_open("at a { work }"), one="ps", extra=_LATE),
    "batch-waits": _spec(
        _open("at a { together 3 { call b { work } } }"),
        a="box",
        b="one",
        one="mm1",
        extra="measure late = b.cpu.wait.p95",
    ),
    "later-by-two-moments": _spec(
        _open("at a { call c * 2 { call b * 30 % { work }; call b * 20 % { more } } }"),
        a="box",
        b="one",
        one="periodic",
        extra="measure late = share(s.latency > 1 s)",
    ),
    "whole-batch": _spec(_open(_SENT), b="box * 3", link="lan"),
    "closed-as-open": _spec(
        "stream s for each user { traffic 1 request / think, 1 kB/request; at a { work } }",
        extra="param think = 10 s",
    ),
    "copies-picked-at-random": _spec(
        _open("at a { }; over l; at b { work }", "for each a"),
        a="box * 3",
        b="one * 2",
        one="periodic",
    ),
    "core-and-thread": _spec(_open("at a { single; work }"), a="four"),
    "cosmetatos": _spec(_open("at a { work }"), a="four", four="mdc"),
    "exponential-waits-for-fixed-service": _spec(_open("at a { work }"), a="four", four="mdc"),
    "delay-in-a-cycle": _spec(
        _closed("at a { take threads; wait; give threads }").replace("2 request", "3 request"),
        a="held",
        extra="component wait { delay 20 ms }",
    ),
    "one-service-while-held": _spec(
        _closed("at a { take threads; work; give threads }").replace("2 request", "3 request"),
        a="held",
    ),
    "delay-while-held": _spec(_open(_HELD), a="held", b="four"),
    "erlang-c-of-a-pool": _spec(_open(_HELD), a="held", b="four").replace(
        "propagation 0.5 ms", "propagation 0 ms"
    ),
    "delay-by-chance": _spec(
        _open("at a { rest * (1 + N / 7) }"), extra="component rest { delay 5 ms }"
    ),
    "step-by-chance": _spec(_open("at a { work * (1 + N / 7) }"), one="ps"),
    "finite-room-fixed-service": _spec(_open("at a { work }"), one="md1 room 4"),
    "bursts-of-unknown-length": _spec(
        _open("at c { talk }; over l; at a { work }"), extra="component talk { active 40 % }"
    ),
    "feedback-queue": _spec(_open("at a { call b { work }; call b { more } }"), b="one").replace(
        "propagation 0.5 ms", "propagation 0 ms"
    ),
    "feedback-after-a-time": _spec(_open("at a { call b { work }; call b { more } }"), b="one"),
    "feedback-percentiles": _spec(
        _open("at a { call b { work }; call b { more } }") + "\nmeasure late = s.p95", b="one"
    ),
    "returns-as-poisson": _spec(_open("at a { call b { work }; call b { more } }"), b="four"),
    "unlike-returns": _spec(
        _open("at a { call b * 9 { one of { 5 %: work; else: more } } }"), b="one"
    ),
    "sharing-renewals": _spec(_open("at a { work }", more="; arrivals cv 2"), one="ps"),
    "hayward": _spec(_open("at a { work }", more="; arrivals cv 2"), one="loss"),
    "gamma-mixture": _spec(
        *(_open(f"at a {{ work * {k} }}", name=f"s{k}") for k in range(1, 18)),
    ),
    "longest-period": _spec(
        _open("at a { work }", "for each b"),
        _open("at a { work }", "for each c", name="t"),
        b="box * 3",
        c="box * 2",
        one="periodic",
    ).replace("stream t for each c { traffic 2", "stream t for each c { traffic 3"),
    "lost-users-think": _spec(_closed("at a { work; lose }")),
    "nelson-tantawi": _spec(_open(_TOGETHER), **_BRANCHES),
    "fan-out-independent": _spec(
        _open("at a { together 3 { call b { call c * 10 % { wait } } } }"),
        extra="component wait { delay 10 ms }",
    ),
    "fan-out-associated": _spec(_open("at a { together 3 { call b { work } } }"), b="one * 5"),
    "fan-out-associated-of-many": _spec(
        _open("at a { together 9 { call b { work } } }"), b="one * 12"
    ),
    "fan-out-first": _spec(
        _open("at a { together 3, first 2 answers { call b { work } } }"), b="one * 5", one="ps"
    ),
    "fan-out-first-of-many": _spec(
        _open("at a { together 9, first 2 answers { call b { work } } }"), b="one * 12", one="ps"
    ),
    "fan-out-longest": _spec(
        _open("at a { 30 %: { together 3 { call b { work } } } }"), b="one * 5", one="md1"
    ),
    "fan-out-correlated": _spec(
        _open("at a { together 3, first 2 answers { call b { work } } }"), b="one * 5"
    ),
    "residual-service": _spec(
        _closed("at a { work; one of { 10 %: call b { more }; else: call b { work } } }"), b="one"
    ),
    "fan-out-equal": _spec(_open("at a { together 3 { call b { work } } }"), b="one * 3"),
    "parallel-bursty": _spec(_open(_TOGETHER, more="; arrivals cv 2"), **_BRANCHES),
    "parallel-repeated": _spec(_open(_TOGETHER.replace("b {", "b * 2 {")), **_BRANCHES),
    "fork-independent": _spec(
        _open("at a { together { call b * 10 % { wait }; call c * 20 % { wait } } }"),
        extra="component wait { delay 10 ms }",
    ),
    "fork-associated": _spec(_open(_TOGETHER), b="one", c="four", four="mmc"),
    "fork-estimated": _spec(_open(_TOGETHER), b="one", c="four", one="ps", four="ps"),
    "closed-forks": _spec(_closed(_TOGETHER), **_BRANCHES),
    "forks-combined": _spec(
        _open(
            "at a { together { call b { work; together { call c { work }; call c { wait } } };"
            " call c { wait } } }"
        ),
        extra="component wait { delay 10 ms }",
        b="one",
        c="one",
    ),
    "fork-grid": _spec(
        _open("at a { work; together { call b { work }; call c { work } } }"),
        a="four",
        b="one",
        c="one",
        one="md1",
    ),
    "normal-jitter": _spec(_open("at a { }; over l; at b { }"), link="noisy"),
    "sum-of-percentiles-and-jitter": _spec(_open("at a { work }; over l; at b { }"), link="noisy"),
    "one-fast-core": _spec(_open("at a { work }"), a="four", four="mm1"),
    "other-load-as-visits": _spec(_open("at a { work; idle }")),
    "own-as-any": _spec(_closed("at b { work }", "for each b"), b="four * 2"),
    "share-of-periodic": _spec(
        _open("at a { call b * 50 % { work } }", "for each a"), a="box * 2", b="one", one="periodic"
    ),
    "sizes-in-one-flow": _spec(
        _open("at b { work }", "for each a"), a="box * 2", b="one", one="periodic", **_SIZED
    ),
    "unequal-beside-closed": _spec(
        _closed("at a { more }"), _open("at a { work }", name="t"), one="md1"
    ),
    "visits-by-their-mean": _spec(_open("at a { work; lose; more }")),
    "visits-in-sequence": _spec(_closed("at a { single }"), a="four"),
}
"""A spec by the id of its method."""

_CALLED = "at a { call b { work } }"
_PERIODIC = {"a": "box * 2", "b": "one", "one": "periodic"}
_TWICE = {"b": "box * 3", "c": "box * 2", "one": "periodic"}
_LINE = "at a { work }; over l; at b { work }"
_SERVERS = {"a": "one", "b": "one"}
_TWO = (_closed("at a { work }"), _closed("at a { work; call b { work } }", name="t"))
_MEETING = _open("at a { work to all b }; over l; at b { }; over l; at c { work }")
_SHARED = {"a": "one", "b": "one", "one": "ps"}
_OTHER = _open("at a { more }", name="t")


def _crowded(spec: str) -> str:
    return spec.replace("N in 1..4", "N in 1..90000").replace(" in all", " for each user")


PREMISES = {
    "poisson": (
        "a.cpu",
        _spec(_open("at a { work }")),
        _spec(_open("at a { work }", more="; arrivals cv 2")),
    ),
    "not-behind-a-pool": ("b.cpu", *(_spec(_open(w), a="held", b="one") for w in (_CALLED, _HELD))),
    "enough-servers": ("b.cpu", *(_spec(_open(_HELD), a="held", b=b) for b in ("four", "one"))),
    "poisson-at-pool": (
        "a.threads",
        *(_spec(_open(_HELD, more=m), a="held", b="four") for m in ("", "; arrivals cv 2")),
    ),
    "exponential-holds": (
        "a.threads",
        SPECS["erlang-c-of-a-pool"],
        SPECS["delay-while-held"],
    ),
    "periodic": (
        "b.cpu",
        _spec(_open(_CALLED, "for each a"), **_PERIODIC),
        SPECS["share-of-periodic"],
    ),
    "one-period": (
        "a.cpu",
        SPECS["longest-period"].replace("traffic 3", "traffic 2"),
        SPECS["longest-period"],
    ),
    "single": (
        "l",
        _spec(_open("at a { }; over l; at b { }"), link="lan"),
        SPECS["whole-batch"],
    ),
    "independent-batches": (
        "c.cpu",
        *(_spec(_MEETING, b=b, c="one") for b in ("box", "box * 3")),
    ),
    "random-or-room": (
        "a.cpu",
        _spec(_open("at a { work }"), one="mm1 room 3"),
        _spec(_open("at a { work }", more="; arrivals cv 2"), one="mm1 room 3"),
    ),
    "one-server": ("a.cpu", _spec(_open("at a { work }")), SPECS["one-fast-core"]),
    "one-server-or-equal": (
        "a.cpu",
        _spec(_open("at a { work }"), a="four", four="priority"),
        _spec(_open("at a { work }"), _OTHER, a="four", four="priority"),
    ),
    "exponential-service": (
        "a.cpu",
        *(_spec(_open("at a { work }"), one=o) for o in ("mm1", "md1")),
    ),
    "fixed-service": ("a.cpu", *(_spec(_open("at a { work }"), one=o) for o in ("md1", "mm1"))),
    "equal-service": (
        "a.cpu",
        _spec(_open("at a { work }")),
        _spec(_open("at a { work }"), _OTHER),
    ),
    "fixed-or-exponential-service": (
        "a.cpu",
        *(_spec(_open("at a { work }"), one=o) for o in ("md1", "mg1 cv 0.5")),
    ),
    "few-services": (
        "a.cpu",
        _spec(_open("at a { work }"), _OTHER),
        SPECS["gamma-mixture"],
    ),
    "whole-visits": (
        "a.cpu",
        *(_spec(_open(f"at a {{ work; more{w} }}")) for w in ("", " * (1 + N / 7)")),
    ),
    "no-other-load": ("a.cpu", _spec(_open("at a { work }")), SPECS["other-load-as-visits"]),
    "product-form-station": (
        "a.cpu",
        _spec(_closed("at a { work }"), _open("at a { work }", name="t")),
        SPECS["unequal-beside-closed"],
    ),
    "product-form-stations": (
        "s",
        _spec(_closed("at a { work }"), _open("at a { work }", name="t")),
        SPECS["unequal-beside-closed"],
    ),
    "few-enough-users": ("s", _spec(*_TWO, **_SHARED), _crowded(_spec(*_TWO, **_SHARED))),
    "whole-population": (
        "s (x)",
        *(
            _spec(
                _closed("at a { work }", "for each user").replace("2 request", f"{n} request"),
                work="5 ms/request * size",
                extra=_KINDS.replace("kinds sort", "kinds sort of users"),
            )
            for n in (2, 1)
        ),
    ),
    "one-place-at-a-time": (
        "s",
        _spec(_closed("at a { work }"), a="four"),
        SPECS["visits-in-sequence"],
    ),
    "no-saturation": (
        "s",
        *(_spec(*_TWO, a="one", b=b) for b in ("one", "box")),
    ),
    "free-choice": (
        "s",
        SPECS["any-of-the-copies"].replace("held * 2", "held"),
        SPECS["any-of-the-copies"],
    ),
    "no-pools": ("s", *(_crowded(_spec(_closed(w), a="held", b="one")) for w in (_CALLED, _HELD))),
    "no-forks": ("s", *(_spec(_closed(w), **_BRANCHES) for w in (_CALLED, _TOGETHER))),
    "no-priorities": (
        "s",
        *(_spec(_closed("at a { work }"), one=o) for o in ("mm1", "priority preemptive")),
    ),
    "no-loss": ("s", _spec(_closed("at a { work }")), SPECS["lost-users-think"]),
    "one-path": (
        "s",
        *(_spec(_open(f"at a {{ work{w} }}"), one="md1") for w in ("", " * (1 + N / 7)")),
    ),
    "at-most-one-chance": (
        "s",
        *(
            _spec(_open(f"at a {{ call b * 30 % {{ work }}; call c{w} {{ work }} }}"), b="one")
            for w in ("", " * 20 %")
        ),
    ),
    "independent-stages": (
        "s",
        *(_spec(_open(w), **_SERVERS) for w in (_LINE, f"{_LINE}; over l; at a {{ work }}")),
    ),
    "queueing-modeled": ("s", *(_spec(_open("at a { work }"), a=a) for a in ("one", "box"))),
    "variance-known": ("s", *(_spec(_open("at a { work }"), a=a) for a in ("box", "one"))),
    "one-saturating-station": (
        "s",
        *(_spec(_open(_LINE), work=w, **_SERVERS) for w in ("5 ms/request", "600 ms/request")),
    ),
}
"""By the id of a premise: a place, and a spec that meets it there, and one that does not."""
