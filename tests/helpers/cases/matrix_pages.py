"""Pages of small and large matrices, and what they show in a browser."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from browsers.browser import Opened
from helpers.specs import PRELUDE, checked
from qps.compiler.pipeline import Spec
from qps.reports.pages.html_page import render_matrix
from qps.reports.pages.matrices.matrix_page import matrix_page
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_tables import Tabulator, in_order
from qps.solver.uncertainty.sampled_rows import drawn_in_rows

# Each host has its share of what comes; what is bought costs the more, the more there are.
SHOP = (
    PRELUDE.replace("1..100\n", "1..100_000\n")
    + """
machine cheap { cpu 1 core; price 100 $ }
machine fast { cpu 4 core; price 500 $ }
param hosts = 1 in 1..100
param pace = 1 packet/s in 0.1..100 packet/s
param wait = 20 ms in 1..1000 ms
option zip = on
component pack { cpu 10 ms/packet }
topology { node host = cheap * hosts }
stream flow for each host { traffic N * pace / hosts; at host { work; pack if zip } }
require { host.cpu.load <= 100 %; flow.latency <= wait }
"""
)
SMALL = (
    SHOP
    + """
matrix small "What to buy" {
  host in [cheap, fast]
  hosts in [1, 2, 4]
  pace in 0.5..2 packet/s, 4 values
  zip in [on, off]
  wait in [15, 100 ms]
  column spare = largest_acceptable - 40
  order by cost
}
"""
)


def table_of(spec: Spec) -> pa.Table:
    """Return all rows of the only matrix of a spec."""
    compiled = compile_matrix(spec.model, spec.model.matrices[0], drawn=drawn_in_rows)
    return in_order(compiled, Tabulator(compiled).table(0, compiled.size))


def html_of(text: str) -> str:
    """Return the page of the only matrix of a text."""
    return render_matrix(matrix_page(table_of(checked(text)), "spec.qps"))


def shown(page: Opened, name: str) -> list[Any]:
    """Return the values of a column in the rows that are kept, in their order."""
    found = page.run(
        "(name) => { const one = qps.columns.find((c) => c.name === name);"
        " return [...qps.view].map((row) => one.at(row)); }",
        name,
    )
    return list(found)


def field(page: Opened, label: str) -> Any:
    return page.page.locator(f"table.rows [aria-label^='Filter {label}']").first


def count(page: Opened) -> str:
    """Return how many are reported, once the frame is drawn in which changes are shown."""
    page.run("() => new Promise(requestAnimationFrame)")
    return str(page.page.text_content("#filtered strong"))
