"""A process that does what it is told: it answers, takes for ever, fails, or ends by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from qps.editing.messages import FeatureRequest, RequestResult, RequestStart


def works_badly(connection: Connection, _: Callable[[Any], str]) -> None:
    """Do what the name of each feature says."""
    while True:
        message = connection.recv()
        if not isinstance(message, FeatureRequest):
            continue
        if message.feature == "never begin":
            os._exit(3)
        connection.send(RequestStart(message.number))
        if message.feature == "take for ever":
            time.sleep(600)
        if message.feature == "end":
            os._exit(4)
        fault = "it failed" if message.feature == "fail" else None
        refused = "not so" if message.feature == "refuse" else None
        connection.send(
            RequestResult(
                number=message.number, result=message.params, fault=fault, refused=refused
            )
        )


def no_page(_: Any) -> str:
    """Make no page."""
    return ""


def badly() -> Callable[..., object]:
    """Make a function of a worker that does what its first argument says; it counts its calls."""
    calls = 0

    def work(what: str, *arguments: object) -> object:
        nonlocal calls
        calls += 1
        if what == "take for ever":
            time.sleep(600)
        if what == "end":
            os._exit(4)
        if what == "be killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "fail":
            raise KeyError(*arguments)
        if what == "fail unsendably":
            raise UnsendableError("first", "second")
        if what == "answer unsendably":
            return lambda: None
        return (calls, os.getpid(), *arguments)

    return work


class UnsendableError(Exception):
    """An error that can be pickled, and not be read again, whatever Dask has pickle do."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")
        self.part = _Unreadable()


class _Unreadable:
    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)
