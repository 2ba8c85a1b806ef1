"""The page as HTML: one file with nothing to load, every text of the spec escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from qps.compiler.render import printable
from qps.reports.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from qps.reports.page import PageView
from qps.reports.quantities import number, percent


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
    environment.filters["number"] = number
    environment.filters["percent"] = percent
    environment.globals["plot"] = {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }
    return environment


def _shown(value: object) -> object:
    """Return a value without control characters, which no page may hold."""
    return printable(value) if type(value) is str else value


def render_html(page: PageView) -> str:
    """Return the page; the same view gives the same text, to the letter."""
    style = files("qps.reports").joinpath("templates/style.css").read_text(encoding="utf-8")
    return _environment().get_template("page.html.jinja").render(page=page, style=style)
