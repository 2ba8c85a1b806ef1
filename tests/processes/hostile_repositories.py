"""Repositories of an author who means harm: what git would run there leaves a mark."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

SPEC = """\
users N in 1..900
machine box { cpu 1 core }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { traffic N * 10 packet/s; at host { work } }
expect most { largest_acceptable >= 90; source "us" }
"""
WORSE = SPEC.replace("10 packet", "20 packet")
SECRET = "password-of-somebody-else"
_OWN = {
    **{f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str, given: str = "", check: bool = True) -> str:
    """Return what the user's own git prints, with nothing of ours that guards it."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        input=given,
        check=check,
        capture_output=True,
        text=True,
        env={name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | _OWN,
        timeout=60,
    )
    return done.stdout.strip()


class Trap(Struct, frozen=True):
    """A repository of two commits and a change, and a script of its author."""

    top: Path
    script: Path
    mark: Path

    @staticmethod
    def at(folder: Path) -> Trap:
        """Make one: the newest commit is signed, the specs have attributes of every kind."""
        top, script, mark = folder / "top", folder / "script", folder / "mark"
        (top / "specs").mkdir(parents=True)
        script.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n", encoding="utf-8")
        script.chmod(0o755)
        spec = top / "specs" / "a.qps"
        spec.write_text(SPEC, encoding="utf-8")
        attributes = "*.qps diff=own filter=own merge=own\n"
        (top / ".gitattributes").write_text(attributes, encoding="utf-8")
        git(top, "init", "-q", "-b", "main")
        git(top, "add", ".")
        git(top, "commit", "-qm", "first")
        spec.write_text(SPEC.replace("10 packet", "11 packet"), encoding="utf-8")
        git(top, "commit", "-qam", "second")
        head, _, message = git(top, "cat-file", "commit", "HEAD").partition("\n\n")
        signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----"
        signed = f"{head}\n{signature}\n\n{message}\n"
        commit = git(top, "hash-object", "-t", "commit", "-w", "--stdin", given=signed)
        git(top, "update-ref", "refs/heads/main", commit)
        spec.write_text(WORSE, encoding="utf-8")
        return Trap(top, script, mark)

    def copy(self, folder: Path) -> Trap:
        """Return the same elsewhere."""
        shutil.copytree(self.top.parent, folder, symlinks=True, dirs_exist_ok=True)
        mark = folder / "mark"
        script = folder / "script"
        script.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n", encoding="utf-8")
        return Trap(folder / "top", script, mark)

    def configure(self, **values: str) -> None:
        """Add to the configuration of the repository; `{script}` is the script."""
        with (self.top / ".git" / "config").open("a", encoding="utf-8") as file:
            for name, value in values.items():
                section, _, last = name.rpartition(".")
                first, dot, middle = section.partition(".")
                head = f'[{first} "{middle}"]' if dot else f"[{first}]"
                text = value.format(script=self.script, top=self.top)
                file.write(f'{head}\n\t{last} = "{text}"\n')
