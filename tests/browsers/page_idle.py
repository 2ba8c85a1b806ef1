"""Pages in the browser that are asked when they have nothing left to do: no test reads too early.

After each change a page works on in slices, and the browser tells what came into sight, was folded
open or laid out anew with its next frame. What a test does or asks waits until all that is over; a
busy machine makes it slower, and nothing else. Only what a page puts off for longer than SOON is
left to the test: the address that follows when a reader rests, for which tests wait by what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SOON = 100  # ms
PATIENCE = 400_000  # ms

SCRIPT = f"""(() => {{
  const {{ setTimeout, clearTimeout, requestAnimationFrame, cancelAnimationFrame }} = globalThis;
  const due = new Set();
  globalThis.setTimeout = (run, delay = 0, ...rest) => {{
    const id = setTimeout(() => {{ due.delete(id); run(...rest); }}, delay);
    if (delay <= {SOON}) due.add(id);
    return id;
  }};
  globalThis.clearTimeout = (id) => {{ due.delete(id); clearTimeout(id); }};
  globalThis.requestAnimationFrame = (run) => {{
    const id = `frame ${{requestAnimationFrame((now) => {{ due.delete(id); run(now); }})}}`;
    due.add(id);
    return id;
  }};
  globalThis.cancelAnimationFrame = (id) => {{
    due.delete(id);
    cancelAnimationFrame(id.slice(6));
  }};
  const then = () => new Promise((done) => {{ setTimeout(done); }});
  globalThis.settled = async () => {{
    const end = performance.now() + {PATIENCE};
    do {{
      while (due.size) {{
        if (performance.now() > end) throw new Error("the page does not come to rest");
        await then();
      }}
      // With a frame observers are told; what they are told comes as a task after it.
      await new Promise(requestAnimationFrame);
      await then();
    }} while (due.size);
  }};
}})()"""

ASK = "() => globalThis.settled?.()"
_LATER = ("wait_for", "expect_", "locator", "get_by", "nth", "filter", "on", "remove_listener")
"""Beginnings of the names of what asks nothing of a page as it is now, or waits by itself."""


class Quiet:
    """A page, or what is of one, such as a locator: whatever is done with it waits until it rests.

    What a page has never to do with (its `url`, its context) is as playwright has it.
    """

    def __init__(self, own: Any, rest: Callable[[], object]) -> None:
        self.own = own
        self._rest = rest

    def __getattr__(self, name: str) -> Any:
        return self._with(getattr(self.own, name), name)

    def _with(self, found: Any, name: str = "") -> Any:
        from playwright.sync_api import Keyboard, Locator, Mouse

        if isinstance(found, Locator | Keyboard | Mouse):
            return Quiet(found, self._rest)
        if isinstance(found, list):
            return [self._with(one) for one in found]
        if not callable(found):
            return found

        def called(*arguments: Any, **options: Any) -> Any:
            if not name.startswith(_LATER):
                self._rest()
            own = [getattr(one, "own", one) for one in arguments]
            return self._with(found(*own, **options))

        return called
