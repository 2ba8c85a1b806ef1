"""Systems of a few services, whose traces are written by hand, each for one idea."""

from __future__ import annotations

from traces.written_traces import Work


def _chain() -> list[Work]:
    users = Work(service="users", operation="Find", own=2, network=0.5)
    api = Work(service="api", operation="GET /users/{id}", own=3, calls=(users,), network=1)
    return [Work(service="front", operation="GET /", own=5, calls=(api,)) for _ in range(10)]


def _fork() -> list[Work]:
    prices = Work(service="prices", operation="List", own=20, instance="a")
    stock = Work(service="stock", operation="List", own=30, instance="b")
    page = Work(
        service="front",
        operation="GET /page",
        own=4,
        calls=((prices, stock), Work(service="log", operation="Write", own=1)),
    )
    return [page] * 10


def _optional() -> list[Work]:
    cache = Work(service="cache", operation="GET", own=0.4, bare=True)
    read = Work(service="db", operation="SELECT", own=9, bare=True)
    hit = Work(service="front", operation="GET /item", own=2, calls=(cache,))
    miss = Work(service="front", operation="GET /item", own=2, calls=(cache, read, read, read))
    return [miss if number % 4 == 0 else hit for number in range(20)]


def _retry() -> list[Work]:
    failed = Work(service="pay", operation="Charge", own=5, fails=True)
    charge = Work(service="pay", operation="Charge", own=8)
    once = Work(service="shop", operation="POST /order", own=3, calls=(charge,))
    twice = Work(service="shop", operation="POST /order", own=3, calls=(failed, charge))
    return [twice if number % 5 == 0 else once for number in range(20)]


def _message() -> list[Work]:
    mail = Work(service="mailer", operation="orders process", own=40, message=True, network=0.2)
    stored = Work(service="db", operation="INSERT", own=3, bare=True)
    order = Work(service="shop", operation="POST /order", own=3, calls=(stored, mail))
    return [order] * 10


def _routes() -> list[Work]:
    find = Work(service="search", operation="Find", own=12, sent=300, returned=8000, instance="s1")
    other = Work(service="search", operation="Find", own=12, sent=300, returned=8000, instance="s2")
    home = Work(service="user", operation="GET /home", own=2)
    results = [
        Work(service="user", operation="GET /search", own=3, calls=(one,), returned=20_000)
        for one in (find, other)
    ]
    return [home if number % 3 else results[number % 2] for number in range(12)]


SYSTEMS = {
    "chain": _chain(),
    "fork": _fork(),
    "optional": _optional(),
    "retry": _retry(),
    "message": _message(),
    "routes": _routes(),
}
