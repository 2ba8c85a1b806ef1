"""The report: one safe page, drawn inside its frames, the same each time."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from string import ascii_letters, digits

import pytest
from jinja2 import UndefinedError
from msgspec import structs

from helpers.formulas import R
from helpers.reports import page_of
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.compiler.pipeline import Spec, load
from qps.engine.expressions.formulas import apply, population, symbol, total
from qps.engine.operations import OPERATIONS
from qps.reports.pages import html_page
from qps.reports.pages.data_packing import data_in, packed
from qps.reports.pages.drawings.chart_axes import HEIGHT, WIDTH, ChartAxis, ticks
from qps.reports.pages.drawings.charts import line_chart
from qps.reports.pages.drawings.line_thinning import visible_points
from qps.reports.pages.drawings.stacked_bars import bars
from qps.reports.pages.formula_markup import typeset
from qps.reports.pages.html_page import render_html
from qps.reports.pages.live.page_program import PageProgram
from qps.reports.pages.report_page import PageView
from qps.reports.text.words.quantities import number, percent, quantity
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner

ROOT = Path(__file__).parents[2]
ONE_STREAM = (
    "topology { node host = box }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
)


@pytest.fixture(scope="module")
def speak() -> Spec:
    return load(ROOT / "specs" / "audioconference.qps")


@pytest.fixture(scope="module")
def speak_view(speak: Spec) -> PageView:
    return page_of(speak, "deletion=off")


@pytest.fixture(scope="module")
def speak_page(speak_view: PageView) -> str:
    return render_html(speak_view)


class _Tags(HTMLParser):
    """Gathers tags, and whether they are closed in order."""

    VOID = frozenset(["meta", "br", "link", "img", "hr", "wbr", "input"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(page)
    assert parser.open == []
    return parser.seen


def test_the_page_loads_nothing_and_runs_its_own_script_only(speak_page: str) -> None:
    seen = tags(speak_page)
    assert not {"iframe", "object", "img", "link", "base", "form"} & {t for t, _ in seen}
    for _, attributes in seen:
        assert not {"src", "srcset", "style"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")  # within the page
        assert not any(name.startswith("on") for name in attributes)
    policy = next(a["content"] for t, a in seen if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    own = html_page.script("app.js", html_page.words_of(data_in(speak_page)))
    script, style = (
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (
            own,
            re.findall("<style>(.*?)</style>", speak_page, re.DOTALL)[0],
        )
    )
    assert f"script-src '{script}'; style-src '{style}'" in policy
    assert f"<script>{own}</script>" in speak_page
    assert "url(" not in speak_page.replace("url(#", "")
    assert "http://" not in speak_page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in speak_page


@pytest.mark.slow
def test_a_report_with_everything_is_below_a_megabyte(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    spec = ROOT / "specs" / "audioconference.qps"
    assert main(["report", str(spec), "--no-advice", "-q", "-o", str(file)]) == 0
    assert file.stat().st_size < 1_000_000


def test_the_page_says_what_the_solver_says(speak_page: str) -> None:
    for result in (
        "6 users. At 7, the overall quality penalty exceeds 1: voice latency ≥ ",
        "deletion=off",
        "13.01",
        "42.93",
        "Claypool 1997, table 5.2",
        "N*sound*(N - 1)/lan.rate",
        "8000 byte/s",
        '<td class="num">-21 %</td>',
    ):
        assert result in speak_page, result


def test_the_same_view_gives_the_same_page(
    speak: Spec, speak_view: PageView, speak_page: str
) -> None:
    assert render_html(structs.replace(speak_view)) == speak_page
    claims = Claims(ClaimRunner(model=speak.model)).results()  # judged anew
    assert render_html(page_of(speak, "deletion=off", claims=claims)) == speak_page


def test_texts_of_a_spec_are_escaped() -> None:
    evil = "</title><script>alert(1)</script>'\\u202e{{ 7 * 7 }}"
    spec = checked(
        f'"""{evil}\n\n{evil}"""\n' + PRELUDE
        + f'"""{evil}"""\noption zip = on\nparam p = 3 source "{evil}"\n'
        + "stream more { traffic p * 1 packet/s; at host { work } }\n" + ONE_STREAM
        + f'expect a "{evil}" {{ p == 3; source "{evil}"; note "{evil}"; fitted "{evil}" }}\n'
    )  # fmt: skip
    page = render_html(page_of(spec))
    assert page.count("<script") == 2
    assert "&lt;script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    tags(page)


def test_the_page_of_an_infeasible_spec_marks_its_answer() -> None:
    infeasible = PRELUDE + ONE_STREAM + "require { flow.latency <= 1 ms }"
    assert '<p class="answer no" id="answer">' in render_html(page_of(checked(infeasible)))
    feasible = PRELUDE + ONE_STREAM
    assert '<p class="answer" id="answer">' in render_html(page_of(checked(feasible)))


def test_data_in_a_page_cannot_end_its_element() -> None:
    text = packed({"</script>": ["<!--", "]]>", "&amp;", "\u2028", 1.5, None]})
    assert set(text) <= {*ascii_letters, *digits, *"+/="}
    page = f'<script type="text/plain" id="model">{text}</script>'
    assert data_in(page) == {"</script>": ["<!--", "]]>", "&amp;", "\u2028", 1.5, None]}


@pytest.mark.parametrize("text", ["{{ page.nothing }}", "{{ page.nothing is not none }}"])
def test_a_missing_value_is_an_error_not_a_gap(text: str, speak_view: PageView) -> None:
    template = html_page._environment().from_string(text)
    with pytest.raises(UndefinedError):
        template.render(page=speak_view)


@pytest.mark.parametrize(
    "text",
    [
        ONE_STREAM + "require { flow.latency <= 1 ms }",
        ONE_STREAM.replace("N * 1", "1"),
        ONE_STREAM + "quality worst\nrequire { flow.loss <= 0 % }",
        ONE_STREAM + "measure m = 1 / (N - 50)\nrequire { m <= 1 }",
        "topology { " + "; ".join(f"node h{i} = box" for i in range(12)) + " }\n"
        + "\n".join(
            f"stream f{i} {{ traffic N * {i + 1} packet/s; at h{i} {{ work }} }}" for i in range(12)
        ),
        "topology { node host = box }\nstream flow { traffic 1 packet/s; at host { } }",
    ],
    ids=["never acceptable", "never saturates", "limit is the ideal", "pole", "many", "no load"],
)  # fmt: skip
def test_every_kind_of_answer_has_its_page(text: str) -> None:
    for settings in ((), ("N = 1..1000000000",), ("N = 1",)):
        tags(render_html(page_of(checked(PRELUDE + text), *settings)))


def _numbers(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


@pytest.mark.parametrize("peak", [0.001, 0.3, 0.9, 1.1, 7.0, 1e6])
def test_lines_stay_in_their_frame(peak: float) -> None:
    at = [1 + i / 10 for i in range(100)]
    values = [peak * i / 99 for i in range(100)]
    chart = line_chart(
        "k", "t", "d", "N", at, [("a", values), ("b", values)],
        marks=[("a", 5.0), ("b", 10.8)], region=(1, 400, "all"),
    )  # fmt: skip
    assert chart.region is not None
    assert chart.region.x + chart.region.width <= WIDTH
    for series in chart.series:
        assert all(0 <= x <= WIDTH for x, _ in _numbers(series.path))
    for tick in chart.x_ticks:
        assert 0 < tick.at < WIDTH
    for mark in chart.marks:
        assert 0 < mark.label_y < HEIGHT
        width = 8 * len(mark.label)
        start = mark.label_x - width if mark.anchor == "end" else mark.label_x
        assert start >= 0
        assert start + width <= WIDTH + 8
    labels = [mark.label_y for mark in chart.marks]
    assert len(set(labels)) == len(labels)


def test_undefined_values_break_a_line() -> None:
    values = [0.1, float("nan"), 0.2, float("inf"), 0.3]
    chart = line_chart("k", "t", "d", "N", [1, 2, 3, 4, 5], [("a", values)])
    assert chart.series[0].path.count("M") == 3
    assert "nan" not in chart.series[0].path


def test_axes_are_linear_and_ticks_round() -> None:
    axis = ChartAxis(low=0, high=10, start=100, end=200)
    assert axis.at(3) - axis.at(1) == pytest.approx(axis.at(9) - axis.at(7))
    assert ticks(0, 1.5, 5) == pytest.approx([0, 0.5, 1.0, 1.5])
    assert ticks(2, 200) == (50, 100, 150, 200)


def test_stacked_bars_add_up() -> None:
    (bar,) = bars([("cpu", {"mix": 0.7, "send": 0.2999, "idle": 0.0001})])
    assert [s.name for s in bar.segments] == ["mix", "send"]
    assert bar.segments[1].offset == pytest.approx(70)


@pytest.mark.parametrize(
    ("value", "text"),
    [(184.82352, "184.8"), (0.0, "0"), (1e7, "10,000,000"), (123456.7, "123,500"),
     (1e-7, "10⁻⁷"),
     (-2.5, "-2.5"), (float("inf"), "∞"), (float("nan"), "no value"), (999.96, "1,000")],
)  # fmt: skip
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_quantities_have_their_unit(speak: Spec) -> None:
    from qps.compiler.quantities.dimension import DATA_RATE, INFORMATION, TIME

    assert quantity(0.23, TIME) == "230 ms"
    assert quantity(7200, TIME) == "2 hours"
    assert quantity(2.5e9, DATA_RATE) == "2.5 Gbit/s"
    assert quantity(8e9, INFORMATION) == "1 GB"
    assert quantity(1280 * 8e12, INFORMATION) == "1.28 PB"
    assert percent(0.96288) == "96.3 %"


@pytest.mark.parametrize("word", OPERATIONS)
def test_operations_are_steps_of_the_program(word: str) -> None:
    n = population("N")
    expr = apply(word, *(n + i for i in range(OPERATIONS[word].operands)))
    program = PageProgram(n)
    assert program.step(expr) == len(program.steps) - 1


def test_equal_expressions_are_one_step() -> None:
    n, a = population("N"), symbol("a")
    program = PageProgram(n)
    first = program.step((a + n) * (a + n + 1))
    count = len(program.steps)
    assert program.step((a + n) * (a + n + 1)) == first
    program.step(a + n)
    assert len(program.steps) == count


def test_large_numbers_are_exact() -> None:
    program = PageProgram(population("N"))
    program.step(R(2**60 + 1, 3))
    assert program.steps[-1] == ("number", str(2**60 + 1), 3)


def test_names_are_typeset_as_they_are() -> None:
    name = symbol("beta_1<b>&x")
    assert typeset(name) == "<mi>beta_1&lt;b&gt;&amp;x</mi>"
    assert typeset(total(symbol(f"x{i}") for i in range(500))) is None


def test_thinned_lines_bend_where_they_did() -> None:
    at = [float(i) for i in range(101)]
    line = [abs(place - 37) for place in at]
    stored = visible_points(at, [line], frozenset())
    assert 37 in stored
    assert len(stored) < 25
    with_a_gap = [float("nan") if 40 < place < 50 else place for place in at]
    stored = visible_points(at, [with_a_gap], frozenset())
    assert {40, 41, 49, 50} <= set(stored)
    powers = [10.0**place for place in at]
    assert len(visible_points(at, [powers], frozenset("y"))) < 25


DOCSTRING = """A title: a question?

What it is, with `web.cpu`:

- one *thing*
- [a link](https://example.org)

# Large

<script>alert(1)</script> ![x](https://example.org/x.png) [bad](javascript:alert(1))
"""


def test_the_markdown_of_a_docstring_is_shown_and_nothing_of_it_is_html() -> None:
    spec = checked(f'"""{DOCSTRING}"""\n{PRELUDE}{ONE_STREAM}')
    page = render_html(page_of(spec))
    about = page.partition('<div class="prose">')[2].partition("</div>")[0]
    assert "<code>web.cpu</code>" in about
    assert about.count("<li>") == 2
    assert "<em>thing</em>" in about
    assert '<a href="https://example.org">a link</a>' in about
    assert "<h3>Large</h3>" in about
    assert "&lt;script&gt;alert(1)" in about
    assert not re.search(r"<(script|img|h1)|href=.javascript", about)
    assert "<h1>A title</h1>" in page
    assert '<p class="question">A question?</p>' in page
