"""Docstrings of specs as HTML: their Markdown, without HTML of their own and without pictures."""

from __future__ import annotations

from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING

from markupsafe import Markup

from qps.compiler.diagnostics.render import printable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_HEADINGS = {"h1": "h3", "h2": "h3"}
"""A page has its own title and sections: those of a docstring stand below them."""


def doc_markup(doc: str | None) -> Markup:
    r"""Return a docstring without its first line, which is the title, as HTML.

    >>> doc_markup("Title\n\nSee `web`: <b>not</b> *this*.")
    Markup('<p>See <code>web</code>: &lt;b&gt;not&lt;/b&gt; <em>this</em>.</p>\n')
    """
    rest = cleandoc(doc or "").partition("\n")[2].strip()
    if not rest:
        return Markup("")
    parser = _parser()
    tokens = parser.parse("\n".join(printable(line) for line in rest.splitlines()))
    for token in tokens:
        token.tag = _HEADINGS.get(token.tag, token.tag)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 (no HTML passes)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 (a page alone needs it)

    return MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])
