"""A headline is what drawn inputs support by formulas that share nothing with QPS, and no less."""

from __future__ import annotations

import pytest

from simulated.reliable_headlines import exact_share, headline

_NOISE = 0.0044
"""Of a share of 0.95 in 10,000 draws: two standard deviations."""
_FARTHER = 1.03


@pytest.mark.parametrize("name", ["open", "closed", "kafka"])
def test_a_share_of_draws_supports_the_headline_and_hardly_more(name: str) -> None:
    at = headline(name)
    supported, farther = exact_share(name, at), exact_share(name, round(at * _FARTHER))
    assert supported is not None
    assert farther is not None
    assert supported >= 0.95 - _NOISE
    assert farther < 0.95 - _NOISE


def test_all_draws_support_what_hardly_depends_on_them() -> None:
    at = headline("https_server")
    assert exact_share("https_server", at, 1_000) == 1
    assert exact_share("https_server", at + 10, 1_000) == 0
