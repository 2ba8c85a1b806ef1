"""Values as bytes: the same graph comes back, and nothing else is ever done by what is read."""

from __future__ import annotations

import ast
import pickle
import sys
from datetime import date
from enum import Enum, Flag
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from helpers.nightly import examples
from qps.commands.cache.value_encoding import StoredValueError, Types, decoded, encoded
from qps.engine.expressions.formulas import (
    ONE,
    UNDEFINED,
    Formula,
    apply,
    number,
    population,
    symbol,
)

ROOT = Path(__file__).parents[2]


class Color(Enum):
    RED = "red"
    BLUE = ("blue", 2)


class Sides(Flag):
    LEFT = 1
    RIGHT = 2


class Pair(Struct, frozen=True):
    left: object
    right: object = None


class Named(Struct, frozen=True, kw_only=True):
    name: str
    inner: object = None


class Nothing(Struct, frozen=True):
    pass


class Cell(Struct):
    value: object


TYPES = Types(__name__)


def again(value: Any) -> Any:
    return decoded(encoded(value, TYPES)[0], TYPES)[0]


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.fractions()
    | st.dates()
    | st.sampled_from([*Color, Sides.LEFT, Sides.LEFT | Sides.RIGHT, Path("a/b"), Nothing()])
)
keys = st.recursive(
    scalars,
    lambda inner: (
        st.tuples(inner, inner) | st.builds(Pair, inner, inner) | st.frozensets(inner, max_size=3)
    ),
    max_leaves=5,
)
values = st.recursive(
    keys,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.builds(Pair, inner, inner)
        | st.builds(lambda name, inner: Named(name=name, inner=inner), st.text("ab"), inner)
        | st.builds(Cell, inner)
    ),
    max_leaves=20,
)


@given(values)
@settings(max_examples=examples(300), deadline=None)
def test_a_value_comes_back(value: Any) -> None:
    # Types are compared, too: 1, 1.0 and True are equal.
    assert repr(again(value)) == repr(value) or again(value) == value


def test_what_is_one_object_is_one_object_again() -> None:
    shared, equal = Pair(1, 2), Pair(1, 2)
    first, second, third = again([shared, (shared,), equal])
    assert second[0] is first
    assert third is not first
    assert third == first


def test_circles_come_back() -> None:
    around: dict[str, object] = {}
    around["pair"] = Pair(around, [around])
    found = again(around)
    assert found["pair"].left is found
    assert found["pair"].right[0] is found
    cell = Cell(None)
    cell.value = (cell,)
    with pytest.raises(StoredValueError, match="circle"):
        encoded(cell, TYPES)


def test_what_is_below_is_not_written_again() -> None:
    shared = Pair("a long text that stands in the first value", {})
    data, objects = encoded([shared], TYPES)
    more, _ = encoded((shared, "new"), TYPES, objects)
    assert b"long text" not in more
    first, read = decoded(data, TYPES)
    second, _ = decoded(more, TYPES, read)
    assert second == (shared, "new")
    assert second[0] is first[0]
    with pytest.raises(StoredValueError):
        decoded(more, TYPES)


def test_formulas_are_one_object_with_equal_ones() -> None:
    n, work = population("N"), symbol("work")
    formulas = [
        n * work + Fraction(2, 7),
        apply("waiting", work, n),
        number(2) ** Fraction(1, 2),
        UNDEFINED,
        number(float("inf")),
        ONE,
    ]
    for one, found in zip(formulas, again(formulas), strict=True):
        assert found is one
    data = encoded(symbol("seldom") * 3 + n, TYPES)[0]
    found = decoded(data, TYPES)[0]
    assert found is symbol("seldom") * 3 + n


@pytest.mark.parametrize("depth", [100_000])
def test_depth_needs_no_recursion(depth: int) -> None:
    nested: Any = ()
    deep = symbol("x")
    for _ in range(depth):
        nested = (Pair(nested),)
        deep = apply("exp", apply("abs", deep)) if _ < 2_000 else deep
    limit = sys.getrecursionlimit()
    found = again([nested, deep])
    assert sys.getrecursionlimit() == limit
    for _ in range(depth):
        found[0] = found[0][0].left
    assert found == [(), deep]
    assert found[1] is deep


OTHERS: dict[str, object] = {
    "an object": object(),
    "a function": len,
    "a type": Cell,
    "a set": {1},
    "bytes": b"x",
    "a complex number": 1j,
    "half a character": "\ud800",
    "a million digits": 10 ** (10**6),
}


@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_nothing_else_is_written(value: object) -> None:
    with pytest.raises(StoredValueError):
        encoded((value,), TYPES)


# -- what is read --------------------------------------------------------------------------


def tables(**changed: Any) -> bytes:
    """Return tables as they might be written by somebody else."""
    empty: dict[str, Any] = {
        "names": [],
        "scalars": [],
        "dicts": [],
        "lists": [],
        "groups": [],
        "root": 0,
    }
    return msgspec.msgpack.encode([*(empty | changed).values()])


CRAFTED = {
    "nothing": b"",
    "a pickle": pickle.dumps(print),
    "text": b"that was a file of mine" * 9,
    "a name of Python": tables(names=["builtins.eval"], scalars=["1"], groups=[[0, 1, [0]]]),
    "a dotted name": tables(
        names=[f"{__name__}.Pair.__init__.__globals__"], scalars=["1"], groups=[[0, 1, [0]]]
    ),
    "a module": tables(names=["os.system"], scalars=["true"], groups=[[0, 1, [0]]]),
    "a base of types": tables(names=["msgspec.Struct"], groups=[[0, 0, [0]]]),
    "a type of another room": tables(
        names=["qps.compiler.diagnostics.source.Source"], scalars=["x"], groups=[[0, 2, [0, 0]]]
    ),
    "no such object": tables(root=7),
    "an object of later": tables(names=["tuple"], scalars=[1], groups=[[0, 1, [1]]], root=1),
    "a number below zero": tables(scalars=[1], root=-1),
    "too few parts": tables(names=["fraction"], scalars=[1], groups=[[0, 2, [0, 0, 0]]], root=1),
    "another width": tables(names=["fraction"], scalars=[1], groups=[[0, 1, [0]]], root=1),
    "a fraction of texts": tables(
        names=["fraction"], scalars=["1/3"], groups=[[0, 2, [0, 0]]], root=1
    ),
    "over nothing": tables(names=["fraction"], scalars=[0], groups=[[0, 2, [0, 0]]], root=1),
    "a date of text": tables(names=["date"], scalars=["2020"], groups=[[0, 1, [0]]], root=1),
    "a date of nowhere": tables(names=["date"], scalars=[-(2**60)], groups=[[0, 1, [0]]], root=1),
    "a list as a key": tables(scalars=[1], dicts=[[2, 0]], lists=[[]], root=1),
    "half an entry": tables(scalars=[1], dicts=[[0]], root=1),
    "a whole number of a million digits": tables(scalars=[["f" * 10**6]]),
    "no digits": tables(scalars=[["zz"]]),
    "an operation that is none": tables(
        names=["tuple", "formula"],
        scalars=["__import__", None],
        groups=[[0, 0, [0]], [1, 3, [0, 2, 1]]],
        root=3,
    ),
    "an operation on texts": tables(
        names=["tuple", "formula"],
        scalars=["exp", None],
        groups=[[0, 1, [0]], [1, 3, [0, 2, 1]]],
        root=3,
    ),
    "an operation on too many": tables(
        names=["tuple", "formula"],
        scalars=["exp", None, "x", "input"],
        groups=[[0, 0, [0]], [1, 3, [3, 4, 2]], [0, 2, [5, 5]], [1, 3, [0, 6, 1]]],
        root=7,
    ),
    "no member": tables(names=[f"{__name__}.Color"], scalars=["green"], groups=[[0, 1, [0]]]),
}


@pytest.mark.parametrize("data", CRAFTED.values(), ids=CRAFTED)
def test_what_describes_no_value_is_refused(data: bytes) -> None:
    with pytest.raises(StoredValueError):
        decoded(data, TYPES)


@pytest.mark.parametrize("holder", ["set", "dict"])
def test_keys_that_would_take_for_ever_are_refused(holder: str) -> None:
    """Each tuple holds the one before twice: to hash the last takes 2^60 steps."""
    dicts = [[61, 0]] if holder == "dict" else []
    first = 1 + len(dicts)
    groups: list[object] = [[0, 2, [0, 0]]]
    groups += [[0, 2, [number, number]] for number in range(first, first + 59)]
    groups += [] if dicts else [[1, 1, [60]]]
    data = tables(names=["tuple", "set"], scalars=[1], dicts=dicts, groups=groups, root=1)
    with pytest.raises(StoredValueError, match="too large"):
        decoded(data, TYPES)


WRITTEN = encoded(
    [
        {"a": Pair((1, 2.5, None), Named(name="n", inner=Color.BLUE)), Path("x"): date(2020, 1, 2)},
        Fraction(3, 7),
        frozenset(("x", Pair(1, 2))),
        symbol("x") * population("N") + 3,
        2**80,
    ],
    TYPES,
)[0]


@given(st.lists(st.tuples(st.integers(0, len(WRITTEN) * 8 - 1)), min_size=1, max_size=4))
@settings(max_examples=examples(2_000), deadline=None)
def test_flipped_bits_give_a_value_or_are_refused(bits: list[tuple[int]]) -> None:
    damaged = bytearray(WRITTEN)
    for (bit,) in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    held_to(bytes(damaged))


def test_what_is_cut_off_is_refused() -> None:
    for length in range(len(WRITTEN)):
        with pytest.raises(StoredValueError):
            decoded(WRITTEN[:length], TYPES)


numbers = st.integers(-1, 12)


@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 4), st.lists(numbers, max_size=6)), max_size=8
    ),
    st.lists(st.lists(numbers, max_size=4), max_size=2),
    numbers,
)
@settings(max_examples=examples(2_000), deadline=None)
def test_any_tables_give_a_value_or_are_refused(
    groups: list[object], dicts: list[object], root: int
) -> None:
    names = ["tuple", "set", "fraction", "date", "path", "formula"]
    names += [f"{__name__}.{one}" for one in ("Pair", "Named", "Color")]
    scalars = [None, True, 1, -(2**40), 0.5, "input", "exp", "red"]
    held_to(
        tables(names=names, scalars=scalars, dicts=dicts, lists=dicts, groups=groups, root=root)
    )


@given(st.binary(max_size=60))
@settings(max_examples=examples(1_000), deadline=None)
def test_any_bytes_give_a_value_or_are_refused(data: bytes) -> None:
    held_to(data)


PLAIN = (
    *(type(None), bool, int, float, str, tuple, frozenset, dict, list, Fraction, date),
    *(type(Path()), Formula, Pair, Named, Color),
)


def held_to(data: bytes) -> None:
    """Hold what is read to values of the types that there are, all of it."""
    try:
        _, objects = decoded(data, TYPES)
    except StoredValueError:
        return
    assert all(type(one) in PLAIN for one in objects)


def test_memory_is_a_small_multiple_of_what_is_read() -> None:
    """Each object takes at least a byte of what describes it."""
    for name, width in (("tuple", 0), (f"{__name__}.Nothing", 0), ("set", 0)):
        data = tables(names=[name], groups=[[0, width, [0] * 1000]])
        assert len(decoded(data, TYPES)[1]) == 1000
        assert len(data) > 1000


UNPICKLING = {
    "compiler/syntax/parse_cache.py": "what this process wrote itself, in its memory",
    "solver/matrix/execution/dask_cluster.py": "what a Dask client sends its workers",
    "solver/matrix/compilation/compiled_matrix.py": "what is sent there",
}


def test_only_what_is_of_our_own_processes_is_unpickled() -> None:
    found = set()
    for path in (ROOT / "src" / "qps").resolve().parents[1].glob("*/**/*.py"):
        way = path.relative_to(ROOT)
        if way.parts[0] in ("tests", "node_modules", "build") or ".venv" in way.parts:
            continue
        if way.parts[:2] == ("src", "qps") and (ROOT / way).resolve() != ROOT / way:
            continue  # seen where the link leads
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"} & {
                name.split(".")[0] for name in names
            }:
                found.add(str(way))
    assert found == set(UNPICKLING)
