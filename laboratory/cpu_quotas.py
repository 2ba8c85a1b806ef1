"""Programs on quotas of processor time of their own, by control groups of Linux (1 and 2)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

_ROOT = Path("/sys/fs/cgroup")
_PERIOD = 100_000
_WEIGHT = 100
"""As many programs outside of the groups weigh as much as all within: quotas are to be had."""


class CpuQuotas:
    """Groups below one of a name, each with a quota in cores; OSError where there can be none."""

    def __init__(self, name: str) -> None:
        self.is_second = (_ROOT / "cgroup.controllers").exists()
        self.name = f"{name}-{os.getpid()}"
        self.programs: dict[str, subprocess.Popen[str]] = {}
        for top in self._tops():
            top.mkdir()
        top = self._tops()[0]
        if self.is_second:
            (_ROOT / "cgroup.subtree_control").write_text("+cpu")
            (top / "cgroup.subtree_control").write_text("+cpu")
            (top / "cpu.weight").write_text(str(100 * _WEIGHT))
        else:
            (top / "cpu.shares").write_text(str(1024 * _WEIGHT))

    def _tops(self) -> list[Path]:
        """Return the folder with the quotas, and the one with what was used."""
        if self.is_second:
            return [_ROOT / self.name]
        return [*dict.fromkeys((_ROOT / one).resolve() / self.name for one in ("cpu", "cpuacct"))]

    def folders(self, group: str, quota: float) -> list[Path]:
        """Return the folders of a group, which are made unless they are there."""
        folders = [top / group for top in self._tops()]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        if self.is_second:
            (folders[0] / "cpu.max").write_text(f"{round(quota * _PERIOD)} {_PERIOD}")
        else:
            (folders[0] / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (folders[0] / "cpu.cfs_quota_us").write_text(str(round(quota * _PERIOD)))
        return folders

    def start(
        self,
        group: str,
        command: Sequence[str],
        quota: float,
        log: Path | None,
        out: IO[str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a program in a group."""
        entering = "".join(
            f"echo $$ > '{one}/cgroup.procs'; " for one in self.folders(group, quota)
        )
        with (Path(os.devnull) if log is None else log).open("a", encoding="utf-8") as file:
            program = subprocess.Popen(
                ["sh", "-c", entering + 'exec "$@"', "sh", *command],
                stdout=file if out is None else out,
                stderr=None if log is None else file,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        self.programs[group] = program
        return program

    def used(self, group: str) -> float:
        """Return the seconds of processors that a group has used."""
        folder = self._tops()[-1] / group
        if self.is_second:
            text = (folder / "cpu.stat").read_text()
            return int(text.split("usage_usec ")[1].split()[0]) / 1e6
        return int((folder / "cpuacct.usage").read_text()) / 1e9

    def end(self) -> None:
        """End the programs, those that were started first last, and take the groups away."""
        for program in reversed(self.programs.values()):
            if program.poll() is None:
                program.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    program.wait(20)
            if program.poll() is None:
                program.kill()
                program.wait()
        for top in self._tops():
            until = time.monotonic() + 5
            while top.exists() and time.monotonic() < until:
                with suppress(OSError):
                    for folder in [*top.iterdir(), top]:
                        if folder.is_dir():
                            folder.rmdir()
                time.sleep(0.05)
