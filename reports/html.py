"""The page as HTML: one file with nothing to load, every text of the spec escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from qps.compiler.render import printable
from qps.reports.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from qps.reports.live import embedded
from qps.reports.page import PageView
from qps.reports.quantities import number, percent

SCRIPTS = (
    "queues", "program", "interval", "exact", "search", "model", "answers", "format", "sentences",
    "dom", "axis", "line_chart", "picture", "column", "pictures", "bars", "quality_space",
    "topology", "heat_map", "sections", "assumptions", "advice", "comparison", "controls", "app",
)  # fmt: skip
"""The parts of the page's script, each a file in `scripts/`, in the order in which they stand."""


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
    environment.filters["breakable"] = _breakable
    environment.globals["plot"] = {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }
    return environment


def _breakable(name: str) -> Markup:
    """Return a name that may break behind its dots and underlines, and nowhere else."""
    parts = re.split(r"(?<=[._])", printable(name))
    return Markup("<wbr>").join(parts)


def _shown(value: object) -> object:
    """Return a value without control characters, which no page may hold."""
    return printable(value) if type(value) is str else value


@cache
def script() -> str:
    """Return the page's script: its parts behind one another, with no name in the open."""
    folder = files("qps.reports").joinpath("scripts")
    parts = [folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


@cache
def _style() -> str:
    return files("qps.reports").joinpath("templates/style.css").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return how a content policy names an inline text: no other one runs."""
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def render_html(page: PageView) -> str:
    """Return the page; the same view gives the same text, to the letter."""
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            page=page,
            style=_style(),
            style_hash=_hash(_style()),
            script=script(),
            script_hash=_hash(script()),
            data=embedded(page.live),
        )
    )
