"""A process that works for the language server, and can be stopped: it never makes anybody wait.

It is started with the first request. One that takes longer than its limit, or ends by
itself, is stopped and reported; what waited behind goes to the next one. Nothing here blocks
the loop: a thread sends, another one receives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct, field

from qps.editing.messages import (
    AnswerLine,
    CloseText,
    FeatureRequest,
    OpenText,
    PartialResult,
    RequestResult,
    RequestStart,
    Setting,
    TextAnswer,
    TextUpdate,
)
from qps.editing.worker_loop import at_work
from qps.worker_processes import WorkerProcess

if TYPE_CHECKING:
    from qps.compiler.pipeline import Spec


class OutdatedError(Exception):
    """Raised where the text has changed since the request."""


class AnswerTimeoutError(Exception):
    """Raised where an answer took longer than it may."""


class RefusedError(Exception):
    """Raised where a request is invalid; it says why."""


class FaultError(Exception):
    """Raised where something went wrong with us; it says what, for who fixes it."""


class _Waiting(Struct, kw_only=True):
    """A request, and who waits for it; with a timer once the work on it has begun."""

    request: FeatureRequest
    future: asyncio.Future[object]
    partly: Callable[[object], None] | None = None
    timer: asyncio.TimerHandle | None = None

    def fail(self, error: Exception) -> None:
        """Tell who waits that there is no answer."""
        if self.timer is not None:
            self.timer.cancel()
        if not self.future.done():
            self.future.set_exception(error)


class _Running(Struct, kw_only=True, eq=False):
    """A process, and what is to be sent to it; None ends it. It `works` once it has begun once."""

    worker: WorkerProcess
    works: bool = False
    outbox: SimpleQueue[object] = field(default_factory=SimpleQueue)

    def end(self) -> None:
        """Stop it, and wait for nothing."""
        self.outbox.put(None)
        self.worker.process.kill()


class Background:
    """A process at work, or one to be; `limit` are the seconds that one answer may take.

    With a `grace`, work on a text that has changed meanwhile is stopped after so many seconds.
    `work` is what the process does.
    """

    def __init__(
        self,
        page_of: Callable[[Spec], str],
        *,
        limit: float,
        grace: float | None = None,
        work: Callable[[Connection, Callable[[Spec], str]], None] = at_work,
    ) -> None:
        self._work = work
        self._page_of = page_of
        self._limit, self._grace = limit, grace
        self._setting = Setting()
        self._texts: dict[str, OpenText] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._running: _Running | None = None
        self._request_count = 0

    def set(self, setting: Setting) -> None:
        """Say how the editor counts, before the first request."""
        self._setting = setting

    def put(self, text: OpenText) -> None:
        """Report a text that was opened or has changed: requests for the older one are void.

        The work on it goes on for a while at most; who waits gets an answer at once.
        """
        self._texts[text.uri] = text
        self._send(TextUpdate(text))
        self.drop(text.uri)

    def take(self, uri: str) -> None:
        """Tell of a text that was closed."""
        self._texts.pop(uri, None)
        self._send(CloseText(uri))
        self.drop(uri)

    def know(self, uri: str, answer: AnswerLine) -> None:
        """Tell the answer of a text as it is."""
        self._send(TextAnswer(uri, answer))

    def drop(self, uri: str) -> None:
        """Wait no longer for requests of a text."""
        for waiting in [one for one in self._waiting.values() if one.request.uri == uri]:
            if not waiting.future.done():
                waiting.future.set_exception(OutdatedError)
            if waiting.timer is None:
                continue
            if self._grace is not None:
                waiting.timer.cancel()
                waiting.timer = self._soon(self._grace, waiting.request.number)

    async def ask(
        self,
        feature: str,
        uri: str,
        params: object,
        partly: Callable[[object], None] | None = None,
    ) -> object:
        """Return what a feature finds in a text as it is now; `partly` receives what comes first.

        OutdatedError where it changes meanwhile; RefusedError, TooLongError, FaultError.
        """
        running = self._running or self._start()
        self._request_count += 1
        held = self._texts.get(uri)
        request = FeatureRequest(
            number=self._request_count,
            feature=feature,
            uri=uri,
            version=None if held is None else held.version,
            params=params,
        )
        future = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request=request, future=future, partly=partly)
        self._waiting[request.number] = waiting
        running.outbox.put(request)
        return await waiting.future

    def stop(self) -> None:
        """End the process: there is no client any more."""
        running, self._running = self._running, None
        if running is not None:
            running.end()
        for waiting in self._waiting.values():
            waiting.fail(OutdatedError())
        self._waiting.clear()

    # -- the process -----------------------------------------------------------------------

    def _start(self) -> _Running:
        """Start a process, with all that lies open and all that is waited for."""
        loop = asyncio.get_running_loop()
        # A copy of a process with threads is not to be trusted.
        worker = WorkerProcess(self._work, self._page_of, start="spawn")
        running = self._running = _Running(worker=worker)
        running.outbox.put(self._setting)
        for text in self._texts.values():
            running.outbox.put(TextUpdate(text))
        for waiting in self._waiting.values():
            running.outbox.put(waiting.request)
        Thread(target=_sending, args=(running,), daemon=True).start()
        Thread(target=self._receiving, args=(running, loop), daemon=True).start()
        return running

    def _send(self, message: object) -> None:
        if self._running is not None:
            self._running.outbox.put(message)

    def _receiving(self, running: _Running, loop: asyncio.AbstractEventLoop) -> None:
        """Hand on the messages of a process, until it ends."""
        with suppress(RuntimeError):  # the loop is closed: the server ends
            try:
                while True:
                    message = running.worker.connection.recv()
                    loop.call_soon_threadsafe(self._received, running, message)
            except (EOFError, OSError):
                loop.call_soon_threadsafe(self._ended, running)

    def _received(self, running: _Running, message: object) -> None:
        if running is not self._running or not isinstance(
            message, RequestStart | PartialResult | RequestResult
        ):
            return
        waiting = self._waiting.get(message.number)
        if waiting is None:
            return
        if isinstance(message, RequestStart):
            running.works = True
            is_void = waiting.future.done() and self._grace is not None
            waiting.timer = self._soon(
                self._grace if is_void and self._grace is not None else self._limit, message.number
            )
            return
        if isinstance(message, PartialResult):
            if waiting.partly is not None and not waiting.future.done():
                waiting.partly(message.result)
            return
        del self._waiting[message.number]
        if message.outdated:
            waiting.fail(OutdatedError())
        elif message.refused is not None:
            waiting.fail(RefusedError(message.refused))
        elif message.fault is not None:
            waiting.fail(FaultError(message.fault))
        else:
            assert waiting.timer is not None
            waiting.timer.cancel()
            if not waiting.future.done():
                waiting.future.set_result(message.result)

    def _soon(self, seconds: float, number: int) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._stop_work, number)

    def _stop_work(self, number: int) -> None:
        """Stop the work on what takes too long; the next process goes on with the rest."""
        waiting, running = self._waiting.pop(number, None), self._running
        if waiting is None or running is None:
            return
        waiting.fail(AnswerTimeoutError(f"stopped after {self._limit:g} s"))
        self._again(running)

    def _ended(self, running: _Running) -> None:
        """Tell of a process that has ended by itself, and go on with what did not end it."""
        if running is not self._running:
            return
        begun = [one for one in self._waiting.values() if one.timer is not None]
        fault = FaultError(f"the process has ended by itself: {running.worker.ended()}")
        # One that does not even begin would not do so the next time either.
        for waiting in begun if running.works else list(self._waiting.values()):
            del self._waiting[waiting.request.number]
            waiting.fail(fault)
        self._again(running)

    def _again(self, running: _Running) -> None:
        running.end()
        self._running = None
        for waiting in self._waiting.values():
            if waiting.timer is not None:
                waiting.timer.cancel()
                waiting.timer = None
        if any(not waiting.future.done() for waiting in self._waiting.values()):
            self._start()
        else:
            self._waiting.clear()


def _sending(running: _Running) -> None:
    """Send what is to be sent: a pipe may be full for a while."""
    with suppress(OSError):
        while (message := running.outbox.get()) is not None:
            running.worker.connection.send(message)
