"""The least version of each dependency that pyproject.toml declares, as constraints for pip.

    pip install '.[test]' --constraint <(python .ci/minimums.py)

What is declared is tried: a minimum that nobody tries is a guess.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

EXTRAS = ("dask", "docs", "test")
"""The extras of people who use QPS and run its tests; `dev` has tools for its own developers."""

_LEAST = re.compile(r"(?P<name>[A-Za-z0-9._-]+)[>=]=(?P<least>[0-9][0-9.]*)")


def constraints(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield `name==least` for each requirement; ValueError for one that declares no minimum."""
    wanted = [*project["dependencies"]]
    wanted += [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    for requirement in dict.fromkeys(one for one in wanted if not one.startswith("qps[")):
        found = _LEAST.fullmatch(requirement)
        if found is None:
            raise ValueError(f"`{requirement}` declares no minimum: write `name>=version`")
        yield f"{found['name']}=={found['least']}"


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "pyproject.toml"
    about = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    if sys.argv[1:] == ["python"]:
        print(about["requires-python"].removeprefix(">="))
    else:
        print("\n".join(constraints(about)))
