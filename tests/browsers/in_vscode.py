"""Try the extension in a real Visual Studio Code, in a browser, and take its picture.

`python tests/browsers/in_vscode.py [--shots FOLDER]` walks through what docs/editors.md promises,
fails where something does not come, and writes docs/pictures/vscode.png. It is not part of CI: it
needs code-server 4.139 (`npm install --global code-server`, with Node 24), named by CODE_SERVER
where it is not on the path, the extension built (`npm ci && npm run package` in editors/vscode),
and a `qps` with its language server beside the Python that runs this.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

from PIL import Image
from playwright.sync_api import Frame, Page, expect, sync_playwright

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "editors" / "vscode" / "vscode-qps.vsix"
PICTURE = ROOT / "docs" / "pictures" / "vscode.png"
MOST_PICTURE = 300_000
PATIENCE = 60_000
SETTINGS = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "security.workspace.trust.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
}


def example() -> str:
    """Return the spec of the README, with a parameter that nothing uses."""
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"<!-- file: site.qps -->\n```qps\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    last = re.compile(r"^(param .*\n)(?!param)", re.MULTILINE)
    text, added = last.subn(r"\1param spare = 3 kB\n", found[1], count=1)
    assert added
    return text


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start code-server with the extension, and return the address that opens a folder."""
    command = shlex.split(os.environ.get("CODE_SERVER", "code-server"))
    with socket() as one, tempfile.TemporaryDirectory() as own:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        user = Path(own) / "data" / "User"
        user.mkdir(parents=True)
        qps = {"qps.path": str(Path(sys.executable).parent / "qps")}
        (user / "settings.json").write_text(json.dumps(SETTINGS | qps), "utf-8")
        (Path(own) / "config.yaml").write_text("auth: none\n", "utf-8")
        command += ["--config", f"{own}/config.yaml", "--user-data-dir", str(user.parent)]
        command += ["--extensions-dir", f"{own}/extensions"]
        one.close()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*command, "--install-extension", str(EXTENSION)], check=True, **quiet)
        address = f"127.0.0.1:{port}"
        server = subprocess.Popen([*command, "--auth", "none", "--bind-addr", address], **quiet)
        try:
            yield f"http://{address}/?folder={folder}"
        finally:
            server.terminate()
            server.wait()


class Code:
    """What somebody does in the editor, and what is seen of it."""

    def __init__(self, page: Page, shots: Path | None) -> None:
        self.page, self.shots = page, shots
        self.done: list[str] = []

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(300)

    def queried(self, how: str, text: str) -> None:
        """Write into the box that a key opens."""
        self.press(how)
        box = self.page.locator(".quick-input-widget input[type=text]")
        expect(box).to_be_visible(timeout=PATIENCE)
        self.page.keyboard.type(text)
        self.page.wait_for_timeout(800)
        self.press("Enter")

    def at(self, line: int, column: int) -> None:
        self.queried("Control+g", f"{line}:{column}")

    def sees(self, what: str, selector: str, text: str = "") -> None:
        """Fail where something does not come."""
        found = self.page.locator(selector).filter(has_text=text).first
        expect(found).to_be_visible(timeout=PATIENCE)
        if self.shots is not None:
            self.page.screenshot(path=self.shots / f"{len(self.done):02}.png")
        self.done.append(what)
        print(f"seen: {what}", flush=True)

    def live(self) -> Frame:
        """Return the frame of the live page, once it has an answer."""
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end:
            for frame in self.page.frames:
                if frame.url.startswith("blob:") and frame.locator("h1").count():
                    return frame
            self.page.wait_for_timeout(200)
        raise AssertionError("no live page came")


def walk(code: Code, address: str, text: str) -> None:
    """Go through what is promised, one by one."""
    lines = text.splitlines()
    declared = next(at for at, line in enumerate(lines, 1) if line.startswith("param "))
    spare = lines.index("param spare = 3 kB") + 1
    code.page.goto(address)
    code.sees("the folder", ".explorer-viewlet .monaco-list-row", "site.qps")
    code.page.locator(".explorer-viewlet .monaco-list-row").filter(has_text="site.qps").dblclick()
    code.sees("the answer above users", ".codelens-decoration a", "At most")
    code.sees("a squiggle", ".squiggly-warning")
    code.page.locator(".codelens-decoration a").first.click()
    answer = code.live().locator("h1, h2, strong").filter(has_text=re.compile("At most|[0-9]"))
    expect(answer.first).to_be_visible(timeout=PATIENCE)
    code.sees("the live page", "iframe.webview")
    code.press("Control+1")
    code.at(spare, 8)
    code.press("Control+.")
    code.sees("a quick fix", ".action-widget", "")
    code.press("Escape")
    used = next(at for at, line in enumerate(lines, 1) if line.startswith("  traffic "))
    code.at(used, 12)
    code.press("Control+b", *["Control+ArrowUp"] * 6)
    code.queried("F1", "Show or Focus Hover")
    code.sees("what a name is", ".monaco-hover", "a parameter")
    photographed(code.page)
    code.press("Escape")
    code.at(len(lines), len(lines[-1]) + 1)
    code.page.keyboard.type("\nmach")
    code.sees("completion, with snippets", ".suggest-widget", "machine")
    code.press("Escape")
    code.sees("an error", ".squiggly-error")
    code.press("Backspace", "Backspace", "Backspace", "Backspace")
    code.at(declared, 6)
    code.page.keyboard.type("      ")
    code.queried("F1", "Format Document")
    start = " ".join(lines[declared - 1].split()[:2])
    laid_out = f"one => one.textContent.replaceAll('\\u00a0', ' ').startsWith('{start}')"
    code.page.wait_for_function(
        f"[...document.querySelectorAll('.view-line')].some({laid_out})", timeout=PATIENCE
    )
    code.sees("its layout", ".view-line", start)
    code.queried("F1", "QPS: Restart the language server")
    code.sees("the answer after a restart", ".codelens-decoration a", "At most")


def photographed(page: Page) -> None:
    """Write the picture, small."""
    page.wait_for_timeout(1500)  # what was typed fades
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(240)
    image.save(PICTURE, optimize=True)
    assert PICTURE.stat().st_size < MOST_PICTURE


def main() -> None:
    """Try everything once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=Path, help="a folder for a picture of each step")
    shots: Path | None = parser.parse_args().shots
    if shots is not None:
        shots.mkdir(parents=True, exist_ok=True)
    text = example()
    with tempfile.TemporaryDirectory() as own, sync_playwright() as play:
        folder = Path(own) / "plans"
        folder.mkdir()
        (folder / "site.qps").write_text(text, "utf-8")
        with served(folder) as address:
            path = os.environ.get("QPS_CHROMIUM", "/usr/bin/chromium")
            browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 860})
            code = Code(page, shots)
            try:
                for _ in range(100):
                    if page.request.get(address.partition("?")[0], timeout=PATIENCE).ok:
                        break
                walk(code, address, text)
            finally:
                if shots is not None:
                    page.screenshot(path=shots / "last.png")
                browser.close()
    print(f"{len(code.done)} things seen; {PICTURE.relative_to(ROOT)} is new")


if __name__ == "__main__":
    main()
