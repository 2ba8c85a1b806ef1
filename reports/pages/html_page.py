"""The page as HTML: one file with nothing to load, every text of the spec escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from qps.compiler.diagnostics.render import printable
from qps.reports.pages.data_packing import packed
from qps.reports.pages.drawings.chart_axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from qps.reports.pages.json_values import Json
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.pages.report_page import PageView
from qps.reports.pages.script_linker import exports_of, link
from qps.reports.text.layout.wrapping import unbroken
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent

if TYPE_CHECKING:  # these import what a report of a spec does not need
    from qps.reports.pages.difference_page import DifferencePage
    from qps.reports.pages.incidents_page import IncidentsPage
    from qps.reports.pages.matrices.matrix_page import MatrixPage
    from qps.reports.pages.plan_page import PlanPage


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("qps.reports"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.tests["none"] = _is_none
    environment.filters["number"] = number
    environment.filters["percent"] = percent
    environment.filters["breakable"] = _breakable
    environment.filters["unquoted"] = unquoted
    environment.filters["unbroken"] = unbroken
    environment.filters["with_code"] = with_code
    environment.filters["as_clause"] = as_clause
    environment.globals["phrase"] = phrase
    environment.globals["plot"] = {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }
    return environment


def _is_none(value: object) -> bool:
    """Return whether a value is None; UndefinedError where a page has no such value at all."""
    if isinstance(value, StrictUndefined):
        bool(value)  # raises: jinja's own test takes what is not there for something
    return value is None


def _breakable(name: str) -> Markup:
    """Return a name that may break behind its dots and underlines, and nowhere else."""
    parts = re.split(r"(?<=[._])", printable(name))
    return Markup("<wbr>").join(parts)


def with_code(text: str) -> Markup:
    """Return a text in which what stands between backquotes is code.

    >>> with_code("none: write `8 ms +- 10 %`")
    Markup('none: write <code>8 ms +- 10 %</code>')
    """
    return Markup("").join(
        _code(part) if i % 2 else escape(printable(part)) for i, part in enumerate(text.split("`"))
    )


def as_clause(text: str) -> str:
    """Return the words before a colon as they stand behind a heading.

    >>> as_clause("At 1,880 devices and 95 % confidence:")
    'at 1,880 devices and 95 % confidence'
    """
    return f"{text[:1].lower()}{text[1:].removesuffix(':')}"


def _code(text: str) -> Markup:
    kind = Markup(' class="long"') if len(text) > _SHORT_CODE else ""
    return Markup("<code{}>{}</code>").format(kind, printable(text))


_SHORT_CODE = 24
"""Code that is no longer than that stays in one line."""


def _shown(value: object) -> object:
    """Return a value without control characters, which no page may hold."""
    return printable(value) if type(value) is str else value


_ROWS = "engine/rows"
"""Modules of scripts that export operations by their words: a page has those that it needs."""


def script(entry: str, words: Collection[str] | None = None) -> str:
    """Return a page's script: a module of `scripts/` with all that it imports.

    Of operations of which there are modules, it has the `words` alone; all where none are stated.
    """
    if words is None:
        return _linked(entry, frozenset())
    spare = {path for path, own in _rows().items() if own.isdisjoint(words)}
    return _linked(entry, frozenset(spare))


def words_of(data: Any) -> frozenset[str]:
    """Return the operations of all programs in the data of a page."""
    models = data.get("models", ()) if isinstance(data, Mapping) else ()
    return frozenset(step[0] for model in models for step in model["steps"])


@cache
def _rows() -> dict[str, frozenset[str]]:
    """Return what each of the modules of operations exports."""
    folder = _scripts().joinpath(_ROWS)
    return {
        f"{_ROWS}/{file.name}": frozenset(exports_of(file.read_text(encoding="utf-8")))
        for file in folder.iterdir()
    }


@cache
def _linked(entry: str, without: frozenset[str]) -> str:
    folder = _scripts()
    return link(entry, lambda path: folder.joinpath(path).read_text(encoding="utf-8"), without)


def _scripts() -> Traversable:
    return files("qps.reports").joinpath("scripts")


@cache
def _style(parts: tuple[str, ...]) -> str:
    folder = files("qps.reports").joinpath("templates")
    names = ("charts", *parts, "paper")
    return "".join(folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    """Return how a content policy names an inline text: no other one runs."""
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def render_html(page: PageView) -> str:
    """Return the page; the same view gives the same text, to the letter."""
    if page.uncertainty is None and not page.draws_samples:
        return _rendered("page.html.jinja", page, page.live, "app.js")
    entry = "sampled_report.js" if page.draws_samples else "uncertain_report.js"
    return _rendered("page.html.jinja", page, page.live, entry, ("style", "sure"))


def render_matrix(page: MatrixPage, origin: str = "") -> str:
    """Return the page of a matrix result; `origin` is said of when and by what it was made."""
    styles = ("style", "matrix")
    return _rendered("matrix.html.jinja", page, page.as_json(), "matrix.js", styles, origin)


def render_difference(page: DifferencePage, origin: str = "") -> str:
    """Return the page of what changed between two specs; `origin` is said of when and by what."""
    return _rendered("difference.html.jinja", page, page.data, "difference.js", origin=origin)


def render_incidents(page: IncidentsPage, origin: str = "") -> str:
    """Return the page of incidents; `origin` is said of when and by what it was made."""
    return _rendered("incident.html.jinja", page, page.data, "app.js", origin=origin)


def render_plan(page: PlanPage, origin: str = "") -> str:
    """Return the page of a plan, which needs no script; `origin` is said of when and by what."""
    return _rendered("plan.html.jinja", page, {}, None, origin=origin)


def _rendered(
    template: str,
    page: object,
    data: Json,
    entry: str | None,
    styles: tuple[str, ...] = ("style",),
    origin: str = "",
) -> str:
    style, code = _style(styles), "" if entry is None else script(entry, words_of(data))
    return (
        _environment()
        .get_template(template)
        .render(
            page=page,
            made=origin,
            style=style,
            style_hash=_hash(style),
            script=code,
            script_hash=_hash(code) if code else "none",
            data=packed(data),
        )
    )
