"""No text of ours tells anybody to install a name that somebody else may register.

QPS is on no index of packages: `pip install NAME` with its name would run code of whoever takes it.
What is to be installed is a checkout, a file, or an address; addresses that stand for the reader's
own are of `.example`, which nobody can have (RFC 2606), or have `<…>`, which no name has.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from qps.compiler.diagnostics.extras import installing

ROOT = Path(__file__).parents[2]
OURS = r"(?:qps|vscode-qps|tree-sitter-qps|qps-lsp|qps-playground|pygments-qps)"
INSTALLERS = (
    r"pip3?\s+(?:install|download|wheel)", r"pipx\s+(?:install|run|inject)", r"uvx",
    r"uv\s+(?:pip\s+install|add|tool\s+(?:install|run))", r"(?:poetry|pdm|rye|hatch)\s+add",
    r"(?:conda|mamba)\s+install", r"npx", r"(?:npm|pnpm|yarn)\s+(?:install|i|add|exec)",
    r"(?:brew|apt|apt-get|dnf|cargo|go|gem)\s+install", r"code(?:ium)?\s+--install-extension",
    r"(?:docker|podman)\s+(?:run|pull|create)",
)  # fmt: skip
ENDS = r"(?=$|[\s`;&|,)<\"'\\])"
NAMED = re.compile(
    rf"\b(?:{'|'.join(INSTALLERS)})\s"  # an installer,
    r"(?:(?!`|;|#|&&|\|\||\.\s|\n\n|\n\s*- ).){0,300}?"  # in the same command
    rf"(?<![\w./@:<>-]){OURS}(?:\[[\w,-]*\])?(?:[=~!<>]=?[\w.*]+)?{ENDS}"  # our name by itself,
    r"(?!\s*@\s)",  # with no address behind it
    re.DOTALL,
)
ADDRESSES = re.compile(
    r"(?:pypi\.org|pypi\.python\.org|npmjs\.com|crates\.io|hub\.docker\.com|anaconda\.org|"
    r"marketplace\.visualstudio\.com|open-vsx\.org)[\w./-]*qps"
    r"|(?:github|gitlab|bitbucket)\.(?:com|org)/(?!<)[\w.-]+/qps\b"
    r"|uses:\s*(?!\./|<)[\w.-]+/qps\b"
    rf"|{OURS}(?:\[[\w,-]*\])?\s@\s(?!git\+https://[\w.-]+\.example/|file:|/)"
)
MENTIONED = (
    "install", "download", "wheel", "pipx", "uvx", "add", "tool", "npx", "npm", "yarn", "docker",
    "podman", "pypi", "crates.io", "anaconda", "marketplace", "open-vsx", "github", "gitlab",
    "bitbucket", "uses:", "@ ", "@\n", "@\t",
)  # fmt: skip
"""What stands wherever one of these is; most texts have none of it."""
JOINED = re.compile(r"""["']\s*\n\s*f?r?["']""")
"""Where a text in a program goes on in the next line."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield all text files that are kept, but specs' numbers."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if (
            name
            and path.is_file()
            and not path.is_symlink()
            and name != "tests/docs/test_installing.py"
        ):
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture


def names_in(text: str) -> list[str]:
    """Return what a text says to install by a name that is not ours."""
    joined = JOINED.sub("", text)
    if not any(word in joined for word in MENTIONED):
        return []
    found = [match[0] for match in NAMED.finditer(joined)]
    return [*found, *(match[0] for match in ADDRESSES.finditer(joined))]


def test_nothing_says_to_install_a_name_that_is_not_ours() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git")
    found = {name: names for name, text in texts() if (names := names_in(text))}
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "pip install qps",
        "`pip install 'qps[matrix]'`",
        'pip install "qps[matrix]"',
        "pip install --upgrade qps",
        "pip install qps==0.1.0",
        "pip install 'qps>=0.1'",
        "run `python -m pip install -U numpy qps` first",
        "(`pip install\n'qps[dask]'`)",
        '"it is missing: pip install "\n    "qps[lsp]"',
        "uvx qps solve",
        "uv tool install qps",
        "uv add 'qps[lsp]'",
        "pipx run qps",
        "pipx install qps[lsp]",
        "poetry add qps",
        "conda install -c conda-forge qps",
        "npx tree-sitter-qps",
        "npm install --save-dev tree-sitter-qps",
        "brew install qps",
        "code --install-extension qps.vscode-qps qps",
        "docker run --rm -v x:/y qps solve site.qps",
        "podman pull qps",
        "- uses: example/qps@v1",
        "- repo: https://github.com/example/qps",
        "https://pypi.org/project/qps/",
        "pip install 'qps @ git+https://somewhere.org/qps'",
    ],
)
def test_what_names_it_is_found(text: str) -> None:
    assert names_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install .",
        "pip install '.[matrix]' && qps solve",
        "pip install '/path/to/qps[matrix]'",
        "pip install ./qps",
        "pip install dist/qps-0.1.0-py3-none-any.whl",
        'pip install "qps[matrix] @ git+https://git.example/qps.git@<commit>" # of yours\n- qps ci',
        ".venv/bin/pip install --quiet . && .venv/bin/qps report",
        "`pip install '.[lsp]'`, then qps lsp",
        "podman build -t localhost/qps .",
        "docker run --rm localhost/qps solve",
        "- uses: ./ # this one",
        "- uses: <owner>/qps@<commit>",
        "- repo: https://git.example/qps.git",
        "code --install-extension vscode-qps.vsix",
        "pip install pyarrow. Then qps matrix",
    ],
)
def test_what_names_a_place_is_none(text: str) -> None:
    assert names_in(text) == []


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("matrix", ["pyarrow>=17"]),
        ("captures", ["scapy>=2.6"]),
        ("lsp", ["pygls>=2.1.1"]),
        ("dask", ["distributed>=2024.1", "pyarrow>=17"]),
    ],
)
def test_an_extra_is_installed_by_what_it_takes(extra: str, packages: list[str]) -> None:
    assert installing(extra, "any") == "pip install " + " ".join(f'"{one}"' for one in packages)


def test_without_metadata_the_package_is_named() -> None:
    assert installing("no such extra", "pyarrow") == 'pip install "pyarrow"'
