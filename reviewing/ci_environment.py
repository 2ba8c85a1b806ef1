"""What a CI system says of a run: its branch, the request that it belongs to, the default branch.

GitHub: https://docs.github.com/en/actions/reference/variables-reference, with the event's payload.
GitLab: https://docs.gitlab.com/ci/variables/predefined_variables/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

_LARGEST_EVENT = 32_000_000
"""Bytes of an event that are read: GitHub sends 25 MB at most."""
_HEADS = "refs/heads/"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_COMMIT = re.compile(r"0+")
_MARKS = ("CI", "GITHUB_ACTIONS", "GITHUB_REF", "GITLAB_CI", "CI_COMMIT_SHA")


class CiRun(Struct, frozen=True, kw_only=True):
    """A run in the names of branches and commits; None for what nobody says.

    A pull or merge request has a `target` branch, and `target_base`, a commit of it. `branch` is
    the one that was pushed: a tag or a request has none. `push_base` is where a push begins that
    is still to be made (pre-commit). `is_pipeline` distinguishes a run of CI from one by hand.
    """

    target: str | None = None
    target_base: str | None = None
    branch: str | None = None
    default: str | None = None
    push_base: str | None = None
    is_pipeline: bool = False


def ci_run(environment: Mapping[str, str]) -> CiRun:
    """Return what the variables of GitHub, GitLab and pre-commit say."""
    event = _event(environment.get("GITHUB_EVENT_PATH"))
    ref = environment.get("GITHUB_REF", "")
    pushed = environment.get("PRE_COMMIT_FROM_REF", "")
    return CiRun(
        target=_first(environment, "GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        target_base=_commit(environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"))
        or _commit(_at(event, "pull_request", "base", "sha")),
        branch=ref.removeprefix(_HEADS)
        if ref.startswith(_HEADS)
        else _first(environment, "CI_COMMIT_BRANCH"),
        default=_text(_at(event, "repository", "default_branch"))
        or _first(environment, "CI_DEFAULT_BRANCH"),
        # Of a branch that is new there are zeros.
        push_base=None if _NO_COMMIT.fullmatch(pushed) else pushed or None,
        is_pipeline=any(environment.get(name) for name in _MARKS),
    )


def _first(environment: Mapping[str, str], *names: str) -> str | None:
    return next((found for name in names if (found := environment.get(name))), None)


def _event(name: str | None) -> object:
    """Return the payload of an event, None where there is none that can be read."""
    if not name:
        return None
    try:
        with Path(name).open("rb") as file:
            return json.loads(file.read(_LARGEST_EVENT))
    except (OSError, ValueError, RecursionError):
        return None


def _at(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _commit(value: object) -> str | None:
    """Return the name of a commit, None for anything else: zeros name none."""
    text = _text(value) or ""
    return text if _COMMIT.fullmatch(text) and not _NO_COMMIT.fullmatch(text) else None
