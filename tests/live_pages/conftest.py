"""Fixtures of several files here."""

from __future__ import annotations

import pytest

from helpers.reports import html_of
from live_pages.page_settings import ROOT
from qps.compiler.pipeline import Spec, load


@pytest.fixture(scope="module")
def speak() -> Spec:
    return load(ROOT / "specs" / "audioconference.qps")


@pytest.fixture(scope="module")
def speak_html(speak: Spec) -> str:
    return html_of(speak, scenarios=["midrange"])
