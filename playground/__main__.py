"""`python playground FOLDER`: the playground, as files that any web server gives.

Node and npm are needed, and a package index: Python for the browser (Pyodide) and the editor come
from npm, what QPS needs besides from PyPI. It needs no network once it is built.
"""

from __future__ import annotations

import argparse
import gzip
import json
import runpy
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
PAGES = ("index.html", "page.html", "page.js", "playground.css", "worker.js", "startup.js")
COMPILED = ("msgspec==0.22.0", "python-flint==0.9.0")
"""Packages with C in them: these have wheels for the browser, of this version of its Python."""
PLATFORM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "314")
PURE = (
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "markdown-it-py==4.3.0",
    "mdurl==0.1.2",
    "attrs==26.1.0",
    "lsprotocol==2025.0.0",
    "pygls==2.1.1",
)
LEFT_OUT = ("measuring", "observing", "specs")
NOT_PACKED = (".py", ".pyi", ".pyx", ".pxd", ".h", ".c", ".so")
LINKED_FIRST = ("libgmp.so", "libmpfr.so", "libflint.so")
"""Libraries that others need, each after those that it needs itself."""
LINKED = "/libraries/"
"""Where modules in C seem to be: they have names and no files."""
EXAMPLES = {
    "Small web site": "src/qps/stdlib/_start.qps.txt",
    "Web shop": "specs/applications/shop.qps",
    "Kafka cluster": "specs/applications/kafka.qps",
    "LLM serving on 4 GPUs": "specs/applications/llm.qps",
    "Queue with limited capacity (M/M/c/K)": "specs/textbook/octave_queueing/mmck.qps",
    "Time-sharing terminals": "specs/textbook/lazowska/lazowska_113.qps",
}


def main() -> int:
    """Build the playground into a folder."""
    parser = argparse.ArgumentParser(prog="python playground", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    if not (HERE / "node_modules").exists():
        _run("npm", "ci", "--silent", "--no-audit", "--no-fund", cwd=HERE)
    (folder / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in PYODIDE:
        shutil.copy(HERE / "node_modules" / "pyodide" / name, folder / "pyodide")
    for name in PAGES:
        shutil.copy(HERE / "src" / name, folder)
    _bundle(folder.resolve() / "main.js")
    with tempfile.TemporaryDirectory() as made:
        _gather(Path(made))
        _run("node", "src/compile.mjs", made, cwd=HERE)
        _pack(Path(made), folder / "python.zip")
        _pack_libraries(Path(made), folder / "libraries.bin")
    _run("node", "src/memory_snapshot.mjs", str(folder.resolve()), cwd=HERE)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB; to open it: python -m http.server -d {folder}")
    return 0


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True)


def _bundle(file: Path) -> None:
    """Make one script of the page, the editor and the examples."""
    version = runpy.run_path(str(ROOT / "src" / "qps" / "version.py"))["__version__"]
    texts = {name: (ROOT / path).read_text(encoding="utf-8") for name, path in EXAMPLES.items()}
    said = [
        f"--define:{name}={json.dumps(it)}"
        for name, it in (("EXAMPLES", texts), ("VERSION", version))
    ]
    options = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning")
    _run("npx", "esbuild", "src/main.js", *options, *said, f"--outfile={file}", cwd=HERE)


def _gather(folder: Path) -> None:
    """Put all Python that the browser needs into a folder."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package, place in packages["tool"]["setuptools"]["package-dir"].items():
        name = package.removeprefix("qps").strip(".")
        if name not in LEFT_OUT:
            shutil.copytree(
                ROOT / place, folder / "qps" / name, ignore=_no_links, dirs_exist_ok=True
            )
    shutil.copytree(HERE / "python", folder, dirs_exist_ok=True)
    for requirement, options in ((COMPILED, PLATFORM), (PURE, ())):
        only = ("--only-binary=:all:",) if options else ()
        target = ("--quiet", "--no-deps", "--no-compile", "--target", str(folder))
        _run(
            sys.executable, "-m", "pip", "install", *target, *only, *options, *requirement, cwd=HERE
        )
    for path in (*folder.glob("*.dist-info"), *folder.glob("bin"), *folder.glob("markupsafe/*.so")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for unused in (*folder.rglob("test"), *folder.rglob("tests"), *folder.rglob("__pycache__")):
        shutil.rmtree(unused, ignore_errors=True)


def _no_links(folder: str, names: list[str]) -> set[str]:
    """Return what is not copied: links to the folders that are copied by themselves."""
    links = {name for name in names if Path(folder, name).is_symlink()}
    return links | (set(names) & {"__pycache__"})


def _pack(folder: Path, file: Path) -> None:
    """Pack what runs and what is read; of Python what is compiled alone."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in NOT_PACKED:
                packed.write(path, path.relative_to(folder))


def _pack_libraries(folder: Path, file: Path) -> None:
    """Pack what is linked before Python begins: names and lengths as JSON, then the bytes."""
    needed = [folder / "python_flint.libs" / name for name in LINKED_FIRST]
    modules = sorted(path for path in folder.rglob("*.so") if path not in needed)
    names = [path.name for path in needed]
    names += [LINKED + path.relative_to(folder).as_posix() for path in modules]
    parts = [path.read_bytes() for path in (*needed, *modules)]
    head = json.dumps([*zip(names, map(len, parts), strict=True)]) + "\n"
    file.write_bytes(gzip.compress(b"".join((head.encode(), *parts)), compresslevel=6, mtime=0))


if __name__ == "__main__":
    sys.exit(main())
