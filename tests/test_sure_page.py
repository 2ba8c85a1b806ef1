"""Pages of specs with numbers that nobody knows: how sure the answer is, and what it rests on."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from helpers.reports import page_of
from helpers.specs import checked
from qps.compiler.pipeline import Spec
from qps.reports.pages.charts import WIDTH
from qps.reports.pages.html import render_html
from qps.reports.pages.odds_section import HEIGHT
from qps.reports.pages.page import PageView

SITE = """
users N in 1..10_000
param pace  = between 0.08 request/s and 0.12 request/s
param reply = 80 kB/request +- 20 %
machine server { cpu 4 core, queueing mmc }
machine laptop { }
network uplink { switched; rate 1 Gbit/s }
component answer { cpu 8 ms/request +- 1 ms/request }
topology {
  node web = server * 2
  node browser = laptop * N
  link wan = uplink between web, browser
}
stream replies for each browser { traffic pace, reply; at web { answer }; over wan; at browser { } }
require { replies.latency <= 100 ms; web.cpu.load <= 75 % }
"""


@pytest.fixture(scope="module")
def site() -> Spec:
    return checked(SITE)


@pytest.fixture(scope="module")
def site_view(site: Spec) -> PageView:
    return page_of(site)


def test_the_page_says_how_sure_the_answer_is(site_view: PageView) -> None:
    html, odds = render_html(site_view), site_view.view.odds
    assert odds is not None
    assert f"between {odds.interval.least:,} and {odds.interval.most:,}" in html
    assert f"95 % sure of at least {odds.promise.largest:,}." in html
    assert f"95 % sure: {odds.promise.largest:,}</text>" in html
    assert "what to measure next" in html
    assert html.index("likely to be met at") < html.index("likely to saturate first")


def test_the_picture_of_the_samples_stays_in_its_frame(site_view: PageView) -> None:
    assert site_view.odds is not None
    picture = site_view.odds.histogram
    for one in picture.columns:
        assert 0 <= one.x < one.x + one.width <= WIDTH
        assert 0 < one.y <= one.y + one.height < HEIGHT
    changes = [one.is_inside != other.is_inside for one, other in pairwise(picture.columns)]
    assert sum(changes) == 2  # it is the middle that lies inside
    assert [row[1] for row in picture.rows] == [one.text.split(": ")[1] for one in picture.columns]
    (sure, stated) = picture.lines
    assert sure.x < stated.x


def test_where_no_number_is_acceptable_the_picture_says_none() -> None:
    found = page_of(
        checked(
            SITE.replace("8 ms/request +- 1 ms/request", "between 60 s/request and 90 s/request")
        )
    )
    assert found.odds is not None
    assert found.odds.histogram.rows[0][0] == "none"
    assert not found.odds.histogram.lines


def test_a_page_of_what_is_known_has_nothing_of_it() -> None:
    spec = checked(SITE.replace(" +- 1 ms/request", ""))
    known = page_of(spec, "pace=0.1 request/s", "reply=80 kB/request")
    assert known.odds is None
    html = render_html(known)
    assert not re.search("how sure|samples|uncertain", html.split("<script")[0], re.IGNORECASE)
