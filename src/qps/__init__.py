"""QPS: capacity planning as code, a specification language and its solver.

    >>> import qps
    >>> model = qps.load("specs/audioconference.qps")  # doctest: +SKIP
    >>> model.solve(set={"deletion": "off"}).capacity  # doctest: +SKIP

Nothing here prints, and nothing reads the environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qps.version import __version__

if TYPE_CHECKING:
    from qps.api import Model, load, loads, trace
    from qps.compiler.diagnostics.diagnostic import QpsError
    from qps.measurements import fit, fit_scalability, observe, observe_prometheus

_HERE = Path(__file__).parent
if not (_HERE / "compiler").is_dir():
    # A checkout whose links are no folders (Windows, an unpacked sdist): they are at its top.
    __path__.append(str(_HERE.parents[1]))

__all__ = [
    "Model",
    "QpsError",
    "__version__",
    "fit",
    "fit_scalability",
    "load",
    "loads",
    "observe",
    "observe_prometheus",
    "trace",
]


def __getattr__(name: str) -> object:
    """Import on first use: `qps check` must not wait for what only solving needs."""
    if name == "QpsError":
        from qps.compiler.diagnostics.diagnostic import QpsError  # noqa: PLC0415

        return QpsError
    if name in ("Model", "load", "loads", "trace"):
        from qps import api  # noqa: PLC0415

        return getattr(api, name)
    if name in ("fit", "fit_scalability", "observe", "observe_prometheus"):
        from qps import measurements  # noqa: PLC0415

        return getattr(measurements, name)
    raise AttributeError(f"module 'qps' has no attribute {name!r}")
