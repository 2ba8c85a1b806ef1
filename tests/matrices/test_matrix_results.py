"""Pages of matrix results: from a matrix at once, and from files, which may be a stranger's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

from matrices.test_matrices import BASE
from qps.cli import main
from qps.compiler.pipeline import load
from qps.reports.pages.data_packing import data_in
from qps.reports.pages.matrices import matrix_file, matrix_page
from qps.reports.pages.matrices.matrix_columns import columns_of_table
from qps.reports.pages.matrices.matrix_facts import pareto_optimal

SPEC = (
    BASE
    + """
matrix m "What carries most" with N = 1..50 {
  extra in 1..20 by 1   # a comment stays out
  host in [box, big]
  size in [100, 900 byte/packet]
  exclude extra == 7 and host == box
  where largest_acceptable >= 5
  order by largest_acceptable descending, size
}
"""
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.qps").write_text(SPEC)


def data_of(page: str) -> dict[str, object]:
    """Return what the scripts of a page work on."""
    found: dict[str, object] = data_in(Path(page).read_text(encoding="utf-8"))
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what is said of a command line that is refused."""
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


# -- pages ---------------------------------------------------------------------------------


def test_a_matrix_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps", "-o", "m.html", "--set", "zip = on"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert "80 configurations; " in output.err
    assert "meet the conditions" in output.err
    assert "Highest capacity: " in output.err
    page = Path("m.html").read_text(encoding="utf-8")
    for word, text in (
        ("with", "N = 1..50"),
        ("over", "extra in 1..20 by 1"),
        ("exclude", "extra == 7 and host == box"),
        ("where", "largest_acceptable &gt;= 5"),
        ("order by", "largest_acceptable descending"),
        ("evaluated at", "capacity of each configuration"),
    ):
        assert f"<dt>{word}</dt>" in page
        assert f"<code>{text}</code>" in page
    assert "<code>zip = on</code>" in page
    assert "a comment stays out" not in page
    data = data_of("m.html")
    assert data["sorted"] == [[3, True]]
    assert data["command"] == {"file": "shop.qps", "with": ["N = 1..50", "zip = on"]}


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_a_file_makes_the_same_page(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps", "-o", "m.html", "-q"]) == 0
    assert main(["matrix", "shop.qps", "-o", f"m.{ending}", "-q"]) == 0
    assert main(["report", f"m.{ending}", "-o", "again.html"]) == 0
    output = capsys.readouterr()
    assert "meet the conditions" in output.out
    assert output.err == "\nagain.html written\n"
    assert Path("again.html").read_bytes() == Path("m.html").read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_the_request_is_read_by_its_former_name(ending: str) -> None:
    assert main(["matrix", "shop.qps", "-o", "m.html", "-q"]) == 0
    assert main(["matrix", "shop.qps", "-o", f"m.{ending}", "-q"]) == 0
    if ending == "json":
        file = Path("m.json")
        found = json.loads(file.read_text(encoding="utf-8"))
        found |= {"schema": "qps/matrix/4", "asked": found.pop("request")}
        file.write_text(json.dumps(found), encoding="utf-8")
    else:
        table = parquet.read_table("m.parquet")
        about = {**table.schema.metadata, b"schema": b"qps/matrix/4"}
        about[b"asked"] = about.pop(b"request")
        parquet.write_table(table.replace_schema_metadata(about), "m.parquet")
    assert main(["report", f"m.{ending}", "-o", "again.html", "-q"]) == 0
    assert Path("again.html").read_bytes() == Path("m.html").read_bytes()


def test_csv_has_no_units_and_the_page_says_so() -> None:
    assert main(["matrix", "shop.qps", "-o", "m.csv", "-q"]) == 0
    assert main(["report", "m.csv", "-q"]) == 0
    page = Path("m.html").read_text(encoding="utf-8")
    assert "The file has no units" in page
    assert "extra (20 values), host (2 values), size (2 values)" in page
    columns = {one["name"]: one for one in data_of("m.html")["columns"]}  # type: ignore[attr-defined]
    assert [name for name, one in columns.items() if one["axis"]] == ["extra", "host", "size"]
    assert columns["size"]["values"] == [800, 7200]


def test_what_carries_nobody_is_said_and_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.qps").write_text(
        SPEC.replace("where largest_acceptable >= 5", "").replace("1..20 by 1", "1e6..2e6 by 1e6")
    )
    assert main(["matrix", "none.qps", "-o", "none.html"]) == 1
    assert "carries" not in capsys.readouterr().err.partition("written")[0]
    assert main(["matrix", "none.qps", "-o", "none.parquet", "-q"]) == 1
    assert main(["report", "none.parquet", "-q"]) == 1


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_columns_in_which_nothing_stands_keep_their_type(ending: str) -> None:
    Path("none.qps").write_text(
        BASE.replace("price", "# price").replace("; # price 100 $ }", " }")
        .replace("; # price 50 $ }", " }").replace("; # price 500 $ }", " }")
        .replace("; # price 900 $ }", " }") + "matrix m { extra in [5000, 9000] }\n"
    )  # fmt: skip
    assert main(["matrix", "none.qps", "-o", f"none.{ending}", "-q"]) == 1
    table = matrix_file.read_result(Path(f"none.{ending}"), 100)
    for name, kind in (("cost", pa.float64()), ("capacity", pa.int64())):
        assert table.schema.field(name).type == kind
        assert table.column(name).null_count == 2


def test_a_csv_file_may_begin_with_many_rows_without_a_value() -> None:
    # pyarrow takes the types from the first megabyte.
    rows = ["size,largest_acceptable,cost,reason"]
    rows += [f"{size},,,{'nobody is carried ' * 3}" for size in range(30_000)]
    Path("late.csv").write_text("\n".join([*rows, "30000,5,100.5,"]) + "\n")
    table = matrix_file.read_result(Path("late.csv"), 50_000)
    assert table.column("cost").to_pylist()[-1] == 100.5
    assert table.column("capacity").to_pylist()[-1] == 5


# -- names of columns ----------------------------------------------------------------------

CLASHES = """
users N in 1..200
machine box { cpu 1 core; price 100 $ }
network wire { rate 10 Mbit/s; price 50 $ }
param cost = 1 ms/packet
param reason = 2
param capacity = 3
component work { cpu cost }
component more { cpu 1 us/packet * reason * capacity }
topology { node host = box * N; link limited_by = wire between host }
stream talk for each host {
  traffic 8000 byte/s, 1000 byte/packet
  at host { work; more }
  over limited_by
  at host { work }
}
require { talk.latency <= 300 ms }
"""
AXES = "cost in [1, 2, 3 ms/packet]; reason in [1, 2]; capacity in [1, 2]"


def solved(matrix: str, ending: str = "parquet") -> pa.Table:
    """Return the rows of a matrix over names that are ours, too, as a file tells them."""
    Path("clash.qps").write_text(CLASHES + "matrix m { " + matrix + " }\n")
    assert main(["matrix", "clash.qps", "-o", f"clash.{ending}", "-q"]) == 0
    return matrix_file.read_result(Path(f"clash.{ending}"), 100)


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_an_axis_may_be_called_as_an_answer(ending: str) -> None:
    table = solved(AXES, ending)
    names = table.schema.names
    assert len(set(names)) == len(names)
    assert names[:4] == ["cost", "reason", "capacity", "answer:capacity"]
    (first, *_) = table.to_pylist()
    assert (first["cost"], first["reason"], first["capacity"]) == (0.001, 1, 1)
    assert first["answer:capacity"] == 156
    assert first["answer:cost"] == 156 * 100 + 50
    assert first["answer:reason"] is None
    values = [column.name for column in columns_of_table(table) if column.is_axis]
    assert values == ["cost", "reason", "capacity"]


def test_conditions_and_order_mean_the_axis() -> None:
    table = solved(AXES + "; where cost >= 2 ms/packet; order by cost descending, reason")
    assert table.column("cost").to_pylist() == [0.003] * 4 + [0.002] * 4
    assert set(table.column("answer:cost").to_pylist()) == {156 * 100 + 50}
    table = solved("limited_by in [wire]; where limited_by == wire")
    assert table.column("limited_by").to_pylist() == ["wire"]
    assert table.column("answer:limited_by").to_pylist() == ["limited_by.utilization"]


def test_what_is_selected_has_a_name_of_its_own() -> None:
    table = solved("reason in [1, 2]; select cost, reason, cost, bottleneck; order by reason")
    names = ["reason", "cost", "bottleneck", "answer:reason"]
    assert table.schema.names == names
    assert table.column("cost").to_pylist() == [0.001, 0.001]  # the parameter: there is one
    # What rows are sorted by is told, selected or not.
    table = solved("reason in [1, 2]; select saturates_at; order by cost_per_user")
    with_it = ["saturates_not_below", "saturated_from_start", "stays_full"]
    names = ["reason", "saturates_at", *with_it, "cost_per_user", "answer:reason"]
    assert table.schema.names == names


def test_the_page_distinguishes_them(capsys: pytest.CaptureFixture[str]) -> None:
    solved(AXES)
    assert main(["report", "clash.parquet", "-o", "clash.html"]) == 0
    output = capsys.readouterr().out
    assert "Cheapest: $15,650, ≤ 156 users with cost 1 ms/packet" in output
    columns = {one["name"]: one for one in data_of("clash.html")["columns"]}  # type: ignore[attr-defined]
    assert columns["cost"]["axis"]
    assert not columns["answer:cost"]["axis"]
    assert columns["answer:cost"]["label"] == "answer: cost"
    assert columns["answer:capacity"]["better"] == 1
    assert main(["matrix", "clash.qps"]) == 0
    table = capsys.readouterr().out.split("\n\n")[2]
    assert "answer: cost" in table.splitlines()[0]


# -- what is refused -----------------------------------------------------------------------


def test_more_rows_than_a_page_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_page, "MOST_ROWS", 30)
    for text in (SPEC, SPEC.replace("where", "# where").replace("exclude", "# exclude")):
        Path("shop.qps").write_text(text)
        result = refused(capsys, "matrix", "shop.qps", "-o", "m.html")
        assert "a page holds at most 30 rows, and the matrix has more" in result
        assert "`-o results.parquet`" in result
        assert not Path("m.html").exists()
    assert main(["matrix", "shop.qps", "-o", "m.parquet", "-q"]) == 0
    result = refused(capsys, "report", "m.parquet")
    assert "`m.parquet` has 80 rows; the limit of a page is 30" in result


def test_flags_that_a_page_does_not_go_with(capsys: pytest.CaptureFixture[str]) -> None:
    result = refused(capsys, "matrix", "shop.qps", "-o", "m.html", "--resume")
    assert "`--resume` does not support HTML pages" in result
    assert main(["matrix", "shop.qps", "-o", "m.parquet", "-q"]) == 0
    result = refused(capsys, "report", "m.parquet", "--set", "extra = 3", "--scenario", "x")
    assert "`--scenario` and `--set` cannot be used with a matrix result" in result
    assert "cannot be combined with other files" in refused(
        capsys, "report", "m.parquet", "shop.qps"
    )
    assert "an HTML page" in refused(capsys, "report", "m.parquet", "-o", "m.pdf")
    assert "cannot write" in refused(capsys, "report", "m.parquet", "-o", "no/m.html")


GOOD = {"host": ["a", "b"], "capacity": [1, None], "reason": [None, "no"]}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": [1]}, "has no columns `reason` and `capacity`"),
        (GOOD | {"reason": [1, 2]}, "has numbers in the column `reason`"),
        (GOOD | {"capacity": ["x", "y"]}, "has text in the column `capacity`"),
        (GOOD | {"capacity": [1.5, 2.0]}, "cannot be read: "),
        (GOOD | {"list": [[1], [2]]}, "has a column `list` of type list<"),
        (GOOD | {"flag": [True, False]}, "has a column `flag` of type bool"),
        ({name: [] for name in GOOD}, "has no rows"),
    ],
)
def test_files_that_are_no_result(
    columns: dict[str, list[object]], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet.write_table(pa.table(columns), "x.parquet")
    found = refused(capsys, "report", "x.parquet")
    assert f"`x.parquet` {expected}" in found
    assert "a result of `qps matrix SPEC -o FILE`" in found
    assert not Path("x.html").exists()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.parquet", b"PAR1 or so", "cannot be read"),
        ("x.csv", b"", "cannot be read"),
        ("x.csv", b"a,b\n1\n", "cannot be read"),
        ("x.csv", b"a,a,largest_acceptable,reason\n1,1,1,\n", "has two columns `a`"),
        ("x.csv", b"\xff\xfe\n\xff\n", "cannot be read"),
        ("x.json", b"[1]", "has no list `rows`"),
        ("x.json", b'{"rows": [1]}', "has no list `rows`"),
        ("x.json", b'{"rows": [{"a": NaN}]}', "contains NaN, which is not a JSON number"),
        ("x.json", b'{"rows": [{"a": 1}, {"b": 1}]}', "has rows with different columns"),
        ("x.json", b'{"rows": [{"a": 1}, {"a": "b"}]}', "cannot be read"),
        ("x.json", b"[" * 100_000, "cannot be read"),
        ("x.json", b"\xff", "cannot be read"),
        (
            "x.json",
            b'{"schema": "qps/solve/1", "rows": [{"capacity": 1, "reason": null}]}',
            "has the schema `qps/solve/1`, not `qps/matrix/5`",
        ),
    ],
)
def test_files_that_cannot_be_read(
    name: str, content: bytes, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(content)
    assert f"`{name}` {expected}" in refused(capsys, "report", name)


def test_files_that_are_not_there_or_too_large(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot read `gone.parquet`: " in refused(capsys, "report", "gone.parquet")
    Path("folder.csv").mkdir()
    assert "cannot read `folder.csv`" in refused(capsys, "report", "folder.csv")
    parquet.write_table(pa.table(GOOD), "x.parquet")
    monkeypatch.setattr(matrix_file, "MOST_BYTES", 10)
    assert "is larger than" in refused(capsys, "report", "x.parquet")


def test_the_request_in_a_file_is_not_trusted() -> None:
    schema = pa.table(GOOD).schema
    for request in ("[1]", "{", "{}", '{"file": 1}', "[" * 100_000):
        about = {"schema": "qps/matrix/5", "request": request}
        table = pa.table(GOOD).replace_schema_metadata(about)
        parquet.write_table(table, "x.parquet")
        assert main(["report", "x.parquet", "-q"]) == 0
        assert "Matrix results: x.parquet" in Path("x.html").read_text(encoding="utf-8")
    assert schema.names == list(GOOD)


def test_words_that_look_like_something_else_stay_words() -> None:
    text = "flag,name,largest_acceptable,reason\ntrue,NA,1,\nfalse,null,2,\n"
    Path("x.csv").write_text(text)
    assert main(["report", "x.csv", "-q"]) == 0
    flag, name, *_ = data_of("x.html")["columns"]  # type: ignore[misc]
    assert flag["values"] == ["false", "true"]
    assert name["values"] == ["NA", "null"]


# -- columns -------------------------------------------------------------------------------


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def unpacked(column: dict[str, object], count: int) -> list[object]:
    """Return the rows of a column as the page reads them."""
    rows, width, values = str(column["rows"]), int(str(column["width"])), column["values"]
    assert isinstance(values, list)
    if not rows:
        return [None] * count
    found: list[object] = []
    for start in range(0, len(rows), width):
        code = 0
        for letter in rows[start : start + width]:
            code = 64 * code + LETTERS.index(letter)
        found.append(values[code - 1] if code else None)
    return found


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(max_size=3)),
            st.one_of(st.none(), st.integers(-(2**53), 2**53)),
            st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)),
        ),
        min_size=1,
        max_size=300,
    )
)
def test_columns_hold_what_the_table_holds(rows: list[tuple[object, object, object]]) -> None:
    words, whole, numbers = zip(*rows, strict=True)
    schema = pa.schema(
        [
            ("word", pa.string()),
            ("at", pa.int64()),
            pa.field("exact", pa.float64(), metadata={"role": "axis"}),
            ("told", pa.float64()),
        ]
    )
    safe = [
        None if word is None else str(word).encode("utf-8", "replace").decode() for word in words
    ]
    table = pa.table([safe, whole, numbers, numbers], schema)
    columns = [column.as_json() for column in columns_of_table(table)]
    assert json.loads(json.dumps(columns, allow_nan=False)) == columns
    word, at, exact, result = (unpacked(column, len(rows)) for column in columns)
    assert len(word) == len(rows)
    assert [one is None for one in word] == [one is None for one in safe]
    assert at == list(whole)
    finite = [None if n is None or not np.isfinite(float(str(n))) else n for n in numbers]
    assert exact == finite
    assert result == [None if n is None else float(f"{float(str(n)):.6g}") for n in finite]
    for column in columns:
        values = column["values"]
        assert isinstance(values, list)
        assert len(set(map(repr, values))) == len(values) or column["kind"] == "word"
        assert column["kind"] == "word" or values == sorted(values)


def test_units_suit_the_values() -> None:
    schema = pa.schema(
        [
            pa.field("size", pa.float64(), metadata={"role": "axis", "unit": "bit/packet"}),
            pa.field("share", pa.float64(), metadata={"role": "axis", "unit": "", "told": "share"}),
            pa.field("utilization:lan", pa.float64(), metadata={"unit": ""}),
            pa.field("delay", pa.float64(), metadata={"unit": "s"}),
            pa.field("odd", pa.float64(), metadata={"unit": "furlong^2"}),
        ]
    )
    table = pa.table([[4800.0, 144000.0], [0.5, 1.0], [0.25, 0.5], [0.01, 2.0], [1.0, 2.0]], schema)
    size, share, load_of, delay, odd = columns_of_table(table)
    assert (size.quantity(4800.0), size.quantity(144000.0)) == (
        "600 bytes/packet",
        "18,000 bytes/packet",
    )
    assert share.quantity(0.5) == "50 %"
    assert (load_of.label, load_of.quantity(0.25)) == ("lan utilization", "25 %")
    assert delay.unit == "s"
    assert odd.quantity(2.0) == "2 furlong^2"


_WITH_ROWS = [
    path
    for path in sorted((Path(__file__).parents[2] / "specs").glob("*.qps"))
    if "\nmatrix " in path.read_text("utf-8")
]


@pytest.mark.parametrize("path", _WITH_ROWS, ids=lambda path: path.stem)
def test_the_command_of_a_row_solves_it(path: Path) -> None:
    """Units that the page writes into `--set` are those of the language."""
    spec = load(path)
    assert spec.model.matrices
    for matrix in spec.model.matrices:
        for axis in matrix.axes:
            if axis.labels:
                settings = [f"{axis.name}={label}" for label in axis.labels]
            else:
                field = pa.field(
                    axis.name,
                    pa.float64(),
                    metadata={"role": "axis", "unit": str(axis.dimension)},
                )
                value = float(axis.number(axis.count - 1))
                (column,) = columns_of_table(pa.table([[value]], pa.schema([field])))
                settings = [f"{axis.name}={value / column.factor} {column.unit}"]
            for setting in settings:
                assert spec.changes([setting]), setting


def test_files_contain_the_request() -> None:
    assert main(["matrix", "shop.qps", "-o", "m.parquet", "-q"]) == 0
    schema = parquet.read_schema("m.parquet")
    request = json.loads(schema.metadata[b"request"])
    assert request["configurations"] == 80
    assert request["order"] == [["capacity", True], ["size", False]]
    assert schema.field("size").metadata == {b"unit": b"bit/packet", b"role": b"axis"}
    assert main(["matrix", "shop.qps", "-o", "m.json", "-q"]) == 0
    found = json.loads(Path("m.json").read_text())
    assert found["request"] == request
    assert found["axes"] == ["extra", "host", "size"]
    assert main(["matrix", "shop.qps", "-o", "m.csv", "-q"]) == 0
    assert len(csv.read_csv("m.csv")) == len(found["rows"])


@pytest.mark.parametrize(
    ("users", "costs", "expected"),
    [
        ([3, 5, 5, 2, 9], [10, 20, 30, 5, 40], [True, True, False, True, True]),
        ([3, 3, 4], [10, 10, 9], [False, False, True]),
        ([3, 3], [10, 10], [True, True]),
        ([None, 4], [1, None], [False, False]),
    ],
)
def test_pareto_optimal_rows_are_those_that_no_other_beats(
    users: list[int | None], costs: list[float | None], expected: list[bool]
) -> None:
    table = pa.table(
        {"capacity": pa.array(users, pa.int64()), "cost": pa.array(costs, pa.float64())}
    )
    capacity, cost = columns_of_table(table)
    assert pareto_optimal(capacity, cost, np.ones(len(users), bool)).tolist() == expected
