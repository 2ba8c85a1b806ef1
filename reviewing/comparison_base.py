"""What a change is compared with: where it began, or on the default branch what passed last."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.visible_text import one_line
from qps.reports.text.words.phrases import phrase
from qps.reviewing.ci_environment import CiRun, ci_run
from qps.reviewing.git_command import refused
from qps.reviewing.passed_commits import PassedCommits, passed_commits
from qps.reviewing.repository import commit_of, git, is_shallow, top_of

_SHORT = 10
"""Digits of a commit that are shown."""
PARENT = "HEAD^"
_DEFAULTS = ("main", "master")
_FETCH_HELP = phrase("base.fetch_full_history")


class Base(Struct, frozen=True, kw_only=True):
    """The commit that a change is compared with; None, with the reason `why` and the `fix`.

    `name` is the revision that it was found by, `role` what it is in this comparison ("where this
    branch left origin/main"), empty where it is that revision. Of a first commit `is_none_needed`.
    On the default branch, whose own state is in question, `is_default`, and `branch` is its name;
    `has_passed` says that all specs passed at the base.
    """

    top: Path
    name: str
    commit: str | None
    role: str = ""
    why: str = ""
    fix: str = ""
    is_none_needed: bool = False
    is_default: bool = False
    branch: str = ""
    has_passed: bool = False

    @property
    def short(self) -> str:
        """The first digits of the commit."""
        return "" if self.commit is None else self.commit[:_SHORT]

    @property
    def text(self) -> str:
        """What was compared with, in one line: "ea8c1d67ea, where this branch left origin/main"."""
        if self.commit is None:
            return one_line(f"nothing: {self.why}")
        return one_line(
            f"{self.short}, {self.role}" if self.role else f"{self.short} ({self.name})"
        )


def base_of(
    here: Path,
    revision: str | None = None,
    environment: Mapping[str, str] = os.environ,
    passed: Path | None = None,
) -> Base:
    """Return what to compare with, by the first of these that applies.

    A `revision`; what pre-commit says of a push; the target branch of a request; on the default
    branch the last commit that passed, by the file `passed`, else the parent; elsewhere the default
    branch. Of a branch it is the commit where the work left it: what it has got since is no part of
    the work. QpsError where the revision is none, or the file no list of commits.
    """
    top = top_of(here)
    if top is None:
        raise refused(
            "this folder is not in a git repository", "`qps check` and `qps test` work without one"
        )
    run = ci_run(environment)
    if revision:
        return _left(top, revision, revision, is_requested=True)
    if run.push_base:
        return _left(top, run.push_base, run.push_base, role=phrase("base.start_of_push"))
    if run.target or run.target_base:
        return _of_request(top, run)
    return _of_branch(top, run, passed)


def _left(
    top: Path, revision: str, name: str, *, role: str = "", is_requested: bool = False
) -> Base:
    """Return where the work left a revision, which people call by a `name`."""
    commit = commit_of(top, revision)
    if commit is None:
        if is_requested and not is_shallow(top):
            fix = phrase("base.name_one")
            raise refused(f"unknown git revision `{revision}`", fix)
        return _unknown(top, name)
    fork = _fork(top, commit)
    if fork is None and is_shallow(top):
        why = phrase("base.no_merge_base", name=name)
        return Base(top=top, name=name, commit=None, why=why, fix=_FETCH_HELP)
    if fork is None:
        role = phrase("base.no_shared_history", name=name)
        return Base(top=top, name=name, commit=commit, role=role)
    if is_requested and fork == commit:
        return Base(top=top, name=name, commit=fork)
    return Base(top=top, name=name, commit=fork, role=role or phrase("base.merge_base", name=name))


def _unknown(top: Path, name: str) -> Base:
    why = phrase("base.not_found", name=name)
    if is_shallow(top):
        why += phrase("base.is_shallow")
    return Base(top=top, name=name, commit=None, why=why, fix=_FETCH_HELP)


def _of_request(top: Path, run: CiRun) -> Base:
    """Return where a request left its target branch.

    Of what the branch and the CI system say the nearest counts: the branch of a fork may be old,
    the commit of a CI system is from when the request was made or merged on trial. HEAD itself is
    where a pipeline runs again after its request was merged.
    """
    head = commit_of(top, "HEAD")
    name = f"origin/{run.target}" if run.target else phrase("base.target_branch")
    refs = [] if run.target is None else [f"refs/remotes/origin/{run.target}"]
    refs += [] if run.target_base is None else [run.target_base]
    found = [_left(top, ref, name) for ref in refs]
    known = [one for one in found if one.commit is not None]
    if not known:
        return found[0]
    inner = [one for one in known if one.commit != head] or known
    first, *others = inner
    for other in others:
        first = other if _is_ancestor(top, first.commit, other.commit) else first
    return first


def _of_branch(top: Path, run: CiRun, passed: Path | None) -> Base:
    """Return what a branch that belongs to no request is compared with."""
    default = run.default or _default_branch(top)
    branch = run.branch or _current_branch(top)
    if default is None:
        return _of_default(top, branch or phrase("base.this_branch"), run, passed)
    ref, name = f"refs/remotes/origin/{default}", f"origin/{default}"
    is_default = branch == default
    if commit_of(top, ref) is None and (is_default or commit_of(top, f"refs/heads/{default}")):
        ref, name = f"refs/heads/{default}", default
    if is_default and (run.is_pipeline or passed):
        return _of_default(top, default, run, passed)
    left = _left(top, ref, name)
    is_part = left.commit is not None and left.commit == commit_of(top, "HEAD")
    if is_part and (is_default or branch is None):
        return _of_default(top, default, run, passed)
    if is_part and run.is_pipeline:
        return _parent(top, phrase("base.contained", name=name))
    return left


def _of_default(top: Path, default: str, run: CiRun, passed: Path | None) -> Base:
    """Return the last commit of the default branch that passed, else the parent."""
    listed = PassedCommits(file=Path(), commits=()) if passed is None else passed_commits(passed)
    head = commit_of(top, "HEAD")
    found = None if head is None else listed.newest_in(top, head)
    if found is not None:
        role = phrase("base.last_passed", branch=default)
        return Base(
            top=top,
            name=default,
            commit=found,
            role=role,
            is_default=True,
            branch=default,
            has_passed=True,
        )
    if listed.commits and is_shallow(top):
        why = phrase("base.none_passed_here", passed=passed)
        return Base(top=top, name=default, commit=None, why=why, fix=_FETCH_HELP, is_default=True)
    if passed is not None:
        reason = phrase("base.none_passed_before", name=passed.name)
    else:
        reason = phrase("base.none_recorded") if run.is_pipeline else ""
    return replace(
        _parent(top, phrase("base.parent", reason=reason), is_default=True), branch=default
    )


def _parent(top: Path, role: str, *, is_default: bool = False) -> Base:
    commit = commit_of(top, PARENT)
    if commit is not None:
        return Base(top=top, name=PARENT, commit=commit, role=role, is_default=is_default)
    if is_shallow(top):
        return _unknown(top, PARENT)
    return Base(
        top=top,
        name=PARENT,
        commit=None,
        why=phrase("base.no_earlier"),
        is_none_needed=True,
        is_default=is_default,
    )


def _fork(top: Path, target: str) -> str | None:
    """Return where HEAD left a branch, by its last commit; None without a common history.

    That is the merge base. Where there are several, or HEAD itself is one, since it was merged, it
    is the last commit of the branch's own line (of first parents) that HEAD has.
    """
    head = commit_of(top, "HEAD")
    if head is None:
        return None
    found = git(top, "merge-base", "--all", target, head)
    bases = [] if found is None else found.decode().split()
    if not bases or (len(bases) == 1 and bases[0] != head):
        return bases[0] if bases else None
    line = (git(top, "rev-list", "--first-parent", target, f"^{head}") or b"").decode().split()
    if not line:
        return target
    return commit_of(top, f"{line[-1]}^") or bases[0]


def _is_ancestor(top: Path, first: str | None, second: str | None) -> bool:
    return git(top, "merge-base", "--is-ancestor", str(first), str(second)) is not None


def _default_branch(top: Path) -> str | None:
    """Return what origin says is its default branch, else the first of the usual names."""
    head = "refs/remotes/origin/HEAD"
    if found := git(top, "symbolic-ref", "--quiet", head):
        return os.fsdecode(found).strip().removeprefix("refs/remotes/origin/")
    for namespace in ("refs/remotes/origin", "refs/heads"):
        for name in _DEFAULTS:
            if commit_of(top, f"{namespace}/{name}") is not None:
                return name
    return None


def _current_branch(top: Path) -> str | None:
    """Return the branch that is checked out, None for a commit by itself."""
    found = git(top, "symbolic-ref", "--quiet", "--short", "HEAD")
    return os.fsdecode(found).strip() if found else None
