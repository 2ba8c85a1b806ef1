"""The site of the documentation: whole, linked, live, and searched without a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.browser import CHROMIUM, MISSING, browser
from website.building import built
from website.checking import broken_links
from website.gallery import GROUPS
from website.live_pages import LivePages
from website.markdown_text import headings, moved, sections, slug

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with one live page, that of the first spec of the README."""
    folder = tmp_path_factory.mktemp("site")
    live = LivePages(kept=folder / "live", most=1, root=ROOT)
    assert built(ROOT, folder / "site", live) == []
    assert (live.made, live.linked, live.told) == (1, 1, [])
    return folder / "site"


def test_every_recipe_is_a_page_and_a_card(site: Path) -> None:
    text = (ROOT / "docs" / "cookbook.md").read_text("utf-8")
    _, recipes = sections(text)
    assert len(recipes) > 40
    front = (site / "docs" / "cookbook" / "index.html").read_text("utf-8")
    for recipe in recipes:
        name = re.sub("-+", "-", recipe.slug)
        page = (site / "docs" / "cookbook" / f"{name}.html").read_text("utf-8")
        assert f'id="{recipe.slug}"' in page
        assert f'href="{name}.html"' in front


def test_every_spec_is_in_the_gallery(site: Path) -> None:
    text = (site / "gallery.html").read_text("utf-8")
    specs = {path.stem for group, _ in GROUPS for path in (ROOT / group).glob("*.qps")}
    assert len(specs) > 60
    assert specs <= set(re.findall(r'href="specs/(?:\w+/)?(\w+)\.html"', text))


def test_a_spec_has_its_live_page_one_click_away(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    found = re.search(r'href="(live/[^"]+)"', text)
    assert found
    assert "<script" in (site / found[1]).read_text("utf-8")
    assert '<span class="kd">machine</span>' in text  # by the lexer


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_search_needs_no_server(site: Path) -> None:
    with browser() as started:
        page = started.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "docs" / "errors.html").as_uri())
        page.wait_for_load_state("load")
        page.keyboard.press("/")
        page.locator("input:visible").first.wait_for(timeout=20_000)
        page.keyboard.type("connection pool")
        found = page.locator("a:visible", has_text="A database behind a connection pool")
        found.first.click(timeout=20_000)
        page.wait_for_url("**/a-database-behind-a-connection-pool.html*")
        assert [url for url in asked if url.startswith("http")] == []


def test_programs_find_the_language_on_one_page(site: Path) -> None:
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith("# The language on one page")
    assert "docs/language.html" in text


def test_what_is_wrong_with_a_site_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="#here">x</a><a href="#there">y</a><a href="b.html">z</a>'
        '<script src="https://example.com/x.js"></script>'
    )
    assert [line.partition(": ")[2] for line in broken_links(tmp_path)] == [
        "loads https://example.com/x.js",
        "links to #there, which has no such heading",
        "links to b.html, which is not there",
    ]


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("#a-recipe", "a-recipe.md"),
        ("cookbook.md#a-part", "a-recipe.md#a-part"),
        ("language.md#keywords", "../language.md#keywords"),
        ("../specs/sfu.qps", "../../specs/sfu.md"),
        ("https://example.com/#a-recipe", "https://example.com/#a-recipe"),
    ],
)
def test_links_follow_what_moves(target: str, written: str) -> None:
    now = {
        "docs/cookbook.md#a-recipe": "docs/cookbook/a-recipe.md",
        "docs/cookbook.md#a-part": "docs/cookbook/a-recipe.md#a-part",
        "specs/sfu.qps": "specs/sfu.md",
    }
    told = moved(target, of="docs/cookbook.md", to="docs/cookbook/other.md", now=now)
    assert told == written


def test_what_is_in_fences_is_no_heading() -> None:
    text = "# A\n\n```sh\n## no\n```\n\n## B: 95 % of it?\n\nx\n"
    assert headings(text) == [(1, "A"), (2, "B: 95 % of it?")]
    first, (section,) = sections(text)
    assert first + section.text == text
    assert slug(section.heading) == section.slug == "b-95--of-it"
