"""Processes that work for the language server: stopped where they must be, and never waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from processes.faulty_worker import no_page, works_badly
from qps.editing.background_process import (
    AnswerTimeoutError,
    Background,
    FaultError,
    OutdatedError,
    RefusedError,
)
from qps.editing.messages import OpenText

TEXT = OpenText("file:///a.qps", 1, "one")


async def _outcome(work: Awaitable[object]) -> object:
    """Return what is answered, or what kind of error there is instead."""
    try:
        return await work
    except (FaultError, OutdatedError, RefusedError, AnswerTimeoutError) as error:
        return type(error)


@pytest.mark.parametrize(
    ("features", "outcomes"),
    [
        # One after the other; what is refused or fails ends nothing. What takes long is stopped,
        # and what waits behind it, or behind one that ends by itself, is asked of the next process.
        (
            ["say", "fail", "refuse", "end", "take for ever", "say"],
            ["0", FaultError, RefusedError, FaultError, AnswerTimeoutError, "5"],
        ),
        # A process that does not even begin is not started again and again.
        (["never begin", "say"], [FaultError, FaultError]),
    ],
)
def test_each_is_answered_or_the_reason_is_reported(
    features: list[str], outcomes: list[object]
) -> None:
    async def queried() -> list[object]:
        process = Background(no_page, limit=2, work=works_badly)
        process.put(TEXT)
        work = [
            _outcome(process.ask(feature, TEXT.uri, str(index)))
            for index, feature in enumerate(features)
        ]
        found = await asyncio.wait_for(asyncio.gather(*work), 200)
        process.stop()
        return found

    assert asyncio.run(queried()) == outcomes


def test_work_on_an_older_text_is_stopped_and_nobody_waits_for_it() -> None:
    async def queried() -> list[object]:
        process = Background(no_page, limit=600, grace=0.1, work=works_badly)
        process.put(TEXT)
        first = asyncio.create_task(_outcome(process.ask("say", TEXT.uri, "old")))
        assert await first == "old"
        waiting = asyncio.create_task(_outcome(process.ask("take for ever", TEXT.uri, "")))
        await asyncio.sleep(0.1)
        process.put(OpenText(TEXT.uri, 2, "two"))
        found = [await waiting]  # told at once, while the work goes on for a while
        found.append(await asyncio.wait_for(_outcome(process.ask("say", TEXT.uri, "new")), 200))
        process.stop()
        return found

    assert asyncio.run(queried()) == [OutdatedError, "new"]
