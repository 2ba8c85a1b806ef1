"""Repositories of an author who means harm, made of pieces; made without git, which refuses many.

A piece is one thing that such an author writes: a key of the configuration, an entry of a commit's
tree, a file or link at work, a name of a revision, a file in the folder of git, a variable.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from processes.hostile_repositories import SECRET, SPEC, WORSE

_WHO = "A <a@b.example> 1700000000 +0000"


class Piece(Struct, frozen=True):
    """One hostile thing: its kind, and texts that say which; `{script}` stands for its path."""

    kind: str
    texts: tuple[str, ...]


class Repository(Struct, frozen=True, kw_only=True):
    """A repository that stands on the disk, beside what is none of its author's business.

    `pieces` are those that it has: of two at one place one is left out.
    """

    pieces: list[Piece]
    top: Path
    mark: Path
    outside: Path
    environment: dict[str, str]


def drawn_pieces(draw: random.Random, count: int) -> tuple[Piece, ...]:
    """Return pieces; at most one of those for which git refuses all of a repository."""
    makers = draw.choices(list(_MAKERS), weights=list(_MAKERS.values()), k=count)
    pieces = [make(draw) for make in makers]
    return (*pieces, _fatal(draw)) if draw.random() < 0.15 else tuple(pieces)


_PROGRAMS = (
    "{script}", "!{script}", "{script} %A", "ext::sh -c {script}", "|{script}", "$({script})",
    "`{script}`", "{outside}/script", "sh {script}",
)  # fmt: skip
_OTHERS = (
    "true", "false", "0", "1", "-1", "99999999999999999999", "", "never", "always", "{outside}",
    "{outside}/credentials", "../../outside/credentials", "/dev/zero", "{top}/specs", "auto",
    "a\nb",
    "%(trailers)", "~/x", "\u202e", "HEAD", "refs/heads/main",
)  # fmt: skip
_NAMES = ("own", "origin", "x", "a.b", "*", "..", "sub", 'q"q', "main", "é")
_STRICT = re.compile(
    r"(advice|branch|color|commitGraph|extensions|feature|fetch|gc|index|pack|sparse|user)\."
    r"|core\.(?!\w*(command|editor|pager|askpass|gitproxy|hookspath)$|fsmonitor$|(attributes|excludes)file$)",
    re.IGNORECASE,
)
"""Keys that git wants a certain value of, mostly yes or a number; else it reads no repository."""
_STRICTER = (
    "branch.autosetuprebase", "color.advice.hint", "core.commentchar", "core.createobject",
    "fetch.negotiationalgorithm", "gitweb.remote_heads", "push.default", "core.worktree",
    "core.bare",
    "core.repositoryformatversion", "extensions.objectformat", "core.sharedrepository",
)  # fmt: skip
_BROKEN_MODES = ("0", "777777", "140000", "100644x", "-1")


@cache
def keys() -> tuple[str, ...]:
    """Return the keys that git here and newer ones know."""
    command = ["git", "help", "--config"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    more = [
        "filter.<driver>.process", "merge.<driver>.driver", "alias.<name>", "pager.<cmd>",
        "hook.<name>.command", "hook.<name>.event", "gc.recentObjectsHook", "tar.<name>.command",
        "trailer.<name>.cmd", "trailer.<name>.command", "remote.<name>.vcs", "include.path",
        "includeIf.gitdir:/.path", "core.sshCommand", "extensions.partialClone", "safe.directory",
        "protocol.ext.allow", "url.<base>.insteadOf", "gpg.ssh.program", "gpg.x509.program",
        "extensions.refStorage", "attr.tree", "bundle.<id>.uri", "credential.<url>.helper",
    ]  # fmt: skip
    return tuple(sorted({key for key in listed if "." in key} | {*more}))


_RUNNING = re.compile(
    r"program|command|cmd|helper|pager|editor|hook|proxy|external|textconv|clean|smudge|process"
    r"|driver|askpass|fsmonitor|vcs|pack$|tunnel|path|url|insteadof|signature|alias",
    re.IGNORECASE,
)


def _key(draw: random.Random) -> Piece:
    key = draw.choice(keys())
    if draw.random() < 0.5:
        key = draw.choice([one for one in keys() if _RUNNING.search(one)])
    if key.casefold() in _STRICTER:
        key = "core.fsmonitor"
    values = draw.choice([_PROGRAMS, _PROGRAMS, _OTHERS])
    if _STRICT.match(key):
        values = ("7",)
    value = draw.choice(values)
    if key.casefold().startswith("include"):
        value = draw.choice(["{outside}/included", "nowhere", "{outside}/../included"])
    key = re.sub(r"(<[^>]*>|\*)$", lambda _: draw.choice(["own", "log", "x-y"]), key)
    key = re.sub(r"<[^>]*>|\*", lambda _: draw.choice(_NAMES), key)
    return Piece("key", (key, value))


_PLACES = (
    "", "specs", "specs/deep", ".git", "lib", "specs/x.qps", "é", "-x", "a b", "specs/.hidden",
    ".GIT",
)  # fmt: skip
_FILES = (
    "a.qps", "b.qps", "leak.qps", "-x.qps", "a\nb.qps", "\x1b[2J.qps", ":x.qps", "..qps",
    "\udcff.qps",
    "qps.toml", "pyproject.toml", "t.csv", ".gitattributes", ".gitignore", ".gitmodules",
    ".mailmap",
    "con.qps", "a\\b.qps", "x" * 200 + ".qps", "HEAD", "config", ".git", "git", "git.exe", "é.qps",
    "\u0065\u0301.qps", "A.QPS", "*.qps", "$(x).qps", "%s.qps", "::error::.qps", "|.qps",
)  # fmt: skip
_TARGETS = (
    "{outside}/credentials", "{outside}/secret.qps", "{outside}", "../../outside/secret.qps",
    "../../../outside/credentials", "/dev/zero", "/dev/stdin", "/proc/self/environ", ".", "..", "/",
    "nowhere", "leak.qps", "a.qps", "../specs", "{outside}/pipe", "x" * 300, "b.qps", "{top}/.git",
)  # fmt: skip
_TEXTS = (
    SPEC, SPEC.replace("10 packet", "11 packet"), "(", "", 'use "leak.qps" as l\n' + SPEC,
    'use "../../outside/secret.qps" as l\n', 'use "deep/a.qps" as d\n', "\x00", "# {script}\n",
    "param x = 1\n", "[core]\n\tfsmonitor = {script}\n", "* filter=own diff=own merge=own\n",
    "*\n", "gitdir: {outside}/.git\n", 'trace t "leak.csv" {{ }}\n', "version https://git-lfs\n",
)  # fmt: skip


def _in_specs(draw: random.Random, name: str) -> str:
    place = draw.choice(_PLACES)
    return f"{place}/{name}" if place else name


def _entry(draw: random.Random) -> Piece:
    """Return an entry of the tree of a commit, whatever git thinks of it."""
    mode = draw.choice(["100644"] * 6 + ["100755", "120000", "120000", "120000", "160000", "40000"])
    if draw.random() < 0.1:
        mode = draw.choice(["100664", "100777", "100600"])
    name = draw.choice((*_FILES, "..", ".", "/etc/passwd", "../../x", "a/b.qps", "specs"))
    content = draw.choice(_TARGETS if mode == "120000" else _TEXTS)
    kind = "tree" if mode == "40000" else "blob" if draw.random() < 0.95 else "missing"
    return Piece("entry", (draw.choice(["", "specs"]), mode, name, kind, content))


def _file(draw: random.Random) -> Piece:
    return Piece("file", (_in_specs(draw, draw.choice(_FILES)), draw.choice(_TEXTS)))


def _link(draw: random.Random) -> Piece:
    return Piece("link", (_in_specs(draw, draw.choice(_FILES)), draw.choice(_TARGETS)))


def _special(draw: random.Random) -> Piece:
    kind = draw.choice(["pipe", "folder", "socket", "closed"])
    return Piece(kind, (f"specs/{draw.choice([n for n in _FILES if n.endswith('.qps')])}",))


_ATTRIBUTES = (
    "diff=own", "filter=own", "merge=own", "-text", "text eol=crlf", "working-tree-encoding=UTF-16",
    "ident", "export-subst", "binary", "filter=x", "diff", "!diff", "conflict-marker-size=9",
)  # fmt: skip


def _attributes(draw: random.Random) -> Piece:
    place = draw.choice([".gitattributes", "specs/.gitattributes", ".git/info/attributes"])
    pattern = draw.choice(["*", "*.qps", "/specs/**", "[attr]x", '"a\\nb"', "specs/a.qps", "!x"])
    return Piece("lines", (place, f"{pattern} {' '.join(draw.sample(_ATTRIBUTES, k=2))}\n"))


def _module(draw: random.Random) -> Piece:
    url = draw.choice(["ext::{script}", "{outside}", "../..", "-u./x", "file:///{outside}"])
    way = draw.choice(["specs", "..", "sub", ".git", "specs/deep"])
    name = draw.choice(["sub", "../../x", "a b", ".."])
    text = f'[submodule "{name}"]\n\tpath = {way}\n\turl = {url}\n\tupdate = !{{script}}\n'
    return Piece("lines", (".gitmodules", text))


_REFS = (
    "refs/heads/x", "refs/heads/-x", "refs/heads/HEAD", "refs/tags/main",
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main", "refs/notes/commits", "refs/stash", "refs/replace/{head}",
    "FETCH_HEAD",
    "refs/replace/{blob}", "ORIG_HEAD", "MERGE_HEAD", "refs/heads/a b", "refs/heads/é",
    "refs/bisect/bad",
    "refs/heads/main.lock", "refs/worktree/x", "refs/heads/..", "logs/HEAD", "logs/refs/heads/main",
)  # fmt: skip


def _ref(draw: random.Random) -> Piece:
    text = draw.choice(
        ["{head}", "{first}", "ref: refs/heads/main", "ref: refs/heads/x", "0" * 40, "f" * 40, "",
         "ref: ../../../outside/credentials", "ref: {outside}/credentials", "\x00", "{blob}",
         "x" * 99]
    )  # fmt: skip
    return Piece("git file", (draw.choice(_REFS), text + "\n"))


_HOOKS = (
    "pre-commit", "post-checkout", "post-index-change", "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc", "post-merge", "query-watchman", "post-rewrite", "pre-push", "update",
    "push-to-checkout",
)  # fmt: skip


def _git_file(draw: random.Random) -> Piece:
    name, texts = draw.choice(
        [
            ("info/grafts", ("{head}\n", "{head} {first} {first}\n", "x\n")),
            ("info/exclude", ("*\n", "specs\n", "!x\n", "[", "a.qps\n")),
            ("info/sparse-checkout", ("!/*\n", "/x\n")),
            ("objects/info/commit-graph", ("CGPH\x01\x01\x00\x00", "x" * 99)),
            ("objects/info/http-alternates", ("{outside}/.git/objects\n",)),
            ("objects/info/packs", ("P ../../x.pack\n",)),
            ("objects/pack/pack-" + "0" * 40 + ".pack", ("PACK\x00\x00\x00\x02", "")),
            ("objects/pack/pack-" + "0" * 40 + ".idx", ("\xfftOc\x00\x00\x00\x02", "")),
            ("objects/pack/multi-pack-index", ("MIDX\x01\x01", "x" * 50)),
            ("config.worktree", ("[core]\n\tfsmonitor = {script}\n", "[")),
            ("description", ("x",)),
            ("worktrees/x/gitdir", ("{outside}/.git\n", "{top}/specs/.git\n")),
            ("worktrees/x/HEAD", ("{head}\n",)),
            ("worktrees/x/commondir", ("{outside}/.git\n", "../..\n")),
            ("modules/sub/config", ("[core]\n\tfsmonitor = {script}\n\tworktree = ../../..\n",)),
            ("rebase-merge/git-rebase-todo", ("exec {script}\n",)),
            ("sharedindex." + "0" * 40, ("DIRC", "")),
            ("branches/x", ("ext::{script}\n",)),
            ("remotes/origin", ("URL: ext::{script}\n",)),
            ("packed-refs", ("# pack-refs with: peeled\n{first} refs/heads/y\n",)),
            ("gc.pid", ("1",)),
            ("index.lock", ("",)),
            ("HEAD.lock", ("",)),
            ("commondir.lock", ("x",)),
        ]
    )
    if draw.random() < 0.3:
        return Piece("hook", (draw.choice(_HOOKS),))
    return Piece("git file", (name, draw.choice(texts)))


def _embedded(draw: random.Random) -> Piece:
    place = draw.choice(["specs", "specs/.git", "specs/deep", "specs/deep/.git", "lib/.git"])
    return Piece("embedded", (place, draw.choice(["true", "false"])))


_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_NAMESPACE",
    "PAGER",
    "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_CEILING_DIRECTORIES", "GIT_ATTR_SOURCE",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "EDITOR",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SEQUENCE_EDITOR", "GIT_TEMPLATE_DIR",
    "SSH_ASKPASS",
    "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_DEFAULT_REF_FORMAT",
    "VISUAL",
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_FLUSH", "GIT_PREFIX",
)  # fmt: skip


def _variable(draw: random.Random) -> Piece:
    text = draw.choice((*_PROGRAMS, *_OTHERS, "{top}/specs", "{mark}", "core.fsmonitor", "'x'='y'"))
    return Piece("variable", (draw.choice(_VARIABLES), text.replace("\n", " ")))


def _fatal(draw: random.Random) -> Piece:
    """Return one of those for which git, or we, refuse all of a repository, at least mostly."""
    return draw.choice(
        [
            Piece("key", ("core.worktree", draw.choice(["{outside}", "..", "specs", "/"]))),
            Piece("key", ("core.bare", draw.choice(["true", "x"]))),
            Piece("key", ("core.repositoryformatversion", draw.choice(["1", "2", "x"]))),
            Piece("key", ("extensions.objectformat", draw.choice(["sha256", "md5"]))),
            Piece("key", (draw.choice([*_STRICTER, "core.filemode"]), "{script}")),
            Piece("entry", ("", draw.choice(_BROKEN_MODES), "x", "blob", SPEC)),
            Piece(
                "entry", ("specs", "40000", "x", draw.choice(["blob", "missing", "commit"]), SPEC)
            ),
            Piece("entry", ("specs", "100644", "", "blob", SPEC)),
            Piece("git file", ("objects/info/alternates", "{outside}/.git/objects\n")),
            Piece("git file", ("shallow", draw.choice(["{head}\n", "x\n", "{first}\n"]))),
            Piece("git file", ("commondir", draw.choice(["{outside}/.git\n", "..\n", "\x00"]))),
            Piece("git file", ("HEAD", draw.choice(["x\n", "ref: refs/heads/../../x\n", ""]))),
            Piece("git file", ("packed-refs", "x\n")),
            Piece(
                "key", ("include.path", draw.choice(["/dev/zero", "{outside}/pipe", "{script}"]))
            ),
            Piece("git file", ("config", draw.choice(["[", "\x00", "[core\n", "x" * 9_999]))),
            Piece("git file", ("index", draw.choice(["DIRC", "", "x" * 100]))),
            Piece(
                "git pipe", (draw.choice(["HEAD", "config", "index", "packed-refs", "shallow"]),)
            ),
            Piece(
                "git link", (draw.choice(["objects", "refs", "index", "config"]), "{outside}/.git")
            ),
            Piece("git away", (draw.choice(["gitdir: {outside}/.git\n", "x\n", "gitdir: ..\n"]),)),
        ]
    )


_MAKERS: dict[Callable[[random.Random], Piece], float] = {
    _key: 40, _entry: 20, _file: 4, _link: 6, _special: 1, _attributes: 6, _module: 3, _ref: 8,
    _git_file: 6, _embedded: 1, _variable: 5,
}  # fmt: skip
"""How often each kind is tried."""


def standing(folder: Path, pieces: tuple[Piece, ...]) -> Repository:
    """Write a repository of two commits and a change that is to be told, with all its pieces."""
    top, outside, mark = folder / "top", folder / "outside", folder / "mark"
    (outside / ".git" / "objects").mkdir(parents=True)
    for name in ("credentials", "secret.qps", "secret.csv"):
        (outside / name).write_text(f"{SECRET} = (\n", encoding="utf-8")
    os.mkfifo(outside / "pipe")
    (outside / "included").write_text(f"[core]\n\tfsmonitor = {folder}/script\n", "utf-8")
    script = folder / "script"
    script.write_text(f"#!/bin/sh\n: >> '{mark}'\nexit 1\n", encoding="utf-8")
    script.chmod(0o755)
    (top / "specs" / "deep").mkdir(parents=True)
    (top / "specs" / "a.qps").write_text(WORSE, encoding="utf-8")
    (top / "specs" / "deep" / "a.qps").write_text("param x = 1\n", encoding="utf-8")
    own = top / ".git"
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (own / name).mkdir(parents=True)
    values = {"script": str(script), "top": str(top), "outside": str(outside), "mark": str(mark)}
    objects = _Objects(own / "objects")
    entries = [p.texts for p in pieces if p.kind == "entry"]
    values["blob"] = objects.write("blob", SPEC)
    values["first"] = _commit(objects, "", [], values)
    values["head"] = _commit(objects, values["first"], entries, values)
    (own / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (own / "refs/heads/main").write_text(values["head"] + "\n", encoding="utf-8")
    (own / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n", "utf-8")
    repository = Repository(pieces=[], top=top, mark=mark, outside=outside, environment={})
    for piece in pieces:
        texts = [_with(text, values) for text in piece.texts]
        try:
            _put(repository, piece.kind, texts, script)
        except (OSError, ValueError):
            continue  # two pieces at one place, or a name that no file can have
        repository.pieces.append(piece)
    spec = top / "specs" / "a.qps"
    if spec.is_symlink() or not spec.is_file() or spec.read_text("utf-8", "replace") != WORSE:
        _remove(spec)
        spec.write_text(WORSE, encoding="utf-8")
    return repository


def _with(text: str, values: Mapping[str, str]) -> str:
    """Return a text with paths and names of this repository."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), text)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name("moved"))
    else:
        path.unlink(missing_ok=True)


def _put(repository: Repository, kind: str, texts: list[str], script: Path) -> None:
    top = repository.top
    if kind == "entry":
        return  # it stands in the commit
    if kind == "key":
        section, _, last = texts[0].rpartition(".")
        first, dot, middle = section.partition(".")
        name = _quoted(middle)
        head = f'[{first} "{name}"]' if dot else f"[{first}]"
        text = f'{head}\n\t{last} = "{_quoted(texts[1])}"\n'
        _write(top / ".git" / "config", text, more=os.O_APPEND)
    elif kind == "variable":
        repository.environment[texts[0]] = texts[1]
    elif kind == "lines":
        _write(_placed(top, texts[0]), texts[1], more=os.O_APPEND)
    elif kind == "hook":
        path = _placed(top, f".git/hooks/{texts[0]}")
        _write(path, script.read_text(encoding="utf-8"))
        path.chmod(0o755)
    elif kind == "embedded":
        _embed(top, texts[0], script, is_bare=texts[1] == "true")
    elif kind == "git away":
        (top / ".git").rename(top.parent / "away")
        (top / ".git").write_text(texts[0], encoding="utf-8")
    else:
        path = _placed(top, f".git/{texts[0]}" if kind.startswith("git ") else texts[0])
        if kind in ("git pipe", "git link") or (kind == "git file" and path.exists()):
            _remove(path)
        _special_file(kind.removeprefix("git "), path, texts[1:])


def _placed(top: Path, name: str) -> Path:
    """Return a path below the top, its folder made; OSError where a link of ours leads out."""
    path = top / name
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(top)):
        raise NotADirectoryError(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _special_file(kind: str, path: Path, texts: list[str]) -> None:
    if kind == "file":
        _write(path, texts[0])
    elif kind == "link":
        path.symlink_to(texts[0])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        os.mknod(path, 0o140644)
    elif kind == "closed":
        _write(path, SPEC)
        path.chmod(0)


def _write(path: Path, text: str, more: int = os.O_TRUNC) -> None:
    """Write a file; OSError where a link or a pipe is in its place: what lies outside stays so."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | more
    with open(os.open(path, flags, 0o644), "wb") as file:  # noqa: PTH123 - follows nothing
        file.write(text.encode("utf-8", "surrogateescape"))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "")


def _embed(top: Path, place: str, script: Path, *, is_bare: bool) -> None:
    for name in ("objects", "refs"):
        _placed(top, f"{place}/{name}/any")
    _write(top / place / "HEAD", "ref: refs/heads/main\n")
    text = f"[core]\n\tbare = {str(is_bare).lower()}\n\tworktree = ..\n\tfsmonitor = {script}\n"
    _write(top / place / "config", text)


class _Objects(Struct, frozen=True):
    """Writes objects as git has them, whatever stands in them."""

    folder: Path

    def write(self, kind: str, content: str | bytes) -> str:
        """Return the name of an object."""
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        whole = b"%s %d\0" % (kind.encode(), len(data)) + data
        name = hashlib.sha1(whole).hexdigest()
        path = self.folder / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole, 1))
        return name

    def tree(self, entries: list[tuple[str, str, str]]) -> str:
        """Return the name of a tree: of each entry mode, name and object."""
        made = [
            mode.encode() + b" " + os.fsencode(name) + b"\0" + bytes.fromhex(blob)
            for mode, name, blob in sorted(entries, key=lambda one: os.fsencode(one[1]))
        ]
        return self.write("tree", b"".join(made))


def _commit(
    objects: _Objects, parent: str, entries: list[tuple[str, ...]], values: Mapping[str, str]
) -> str:
    text = SPEC if not parent else SPEC.replace("10 packet", "11 packet")
    deep = objects.tree([("100644", "a.qps", objects.write("blob", "param x = 1\n"))])
    specs = [("100644", "a.qps", objects.write("blob", text)), ("40000", "deep", deep)]
    tops: list[tuple[str, str, str]] = []
    for place, mode, name, kind, content in entries:
        if (place, name) in (("specs", "a.qps"), ("specs", "deep"), ("", "specs")):
            continue  # what is to be compared is there
        result = _with(content, values)
        blob = {
            "missing": "e" * 40,
            "tree": objects.tree([]) if kind == "tree" else "",
            "commit": values.get("first", "0" * 40),
        }.get(kind) or objects.write("blob", result)
        (specs if place else tops).append((mode, _with(name, values), blob))
    tree = objects.tree([*tops, ("40000", "specs", objects.tree(specs))])
    above = f"parent {parent}\n" if parent else ""
    signed = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n"
    return objects.write(
        "commit", f"tree {tree}\n{above}author {_WHO}\ncommitter {_WHO}\n{signed}\nx\n"
    )
