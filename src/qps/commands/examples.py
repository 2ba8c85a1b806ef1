"""What each `--help` ends with: commands that people type, and what each of them is for."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "check": (
        ("qps check site.qps", "is there a mistake in it?"),
        ("qps check specs --format plain", "one line a mistake, for editors"),
    ),
    "solve": (
        ("qps solve site.qps", "how many, limited by what, what would help"),
        ("qps solve site.qps --all", "all loads and requirements, how each is known"),
        ("qps solve site.qps --set 'reply=120 kB/request'", "with another number"),
        ("qps solve site.qps --users 20000", "what each resource needs for so many users"),
        ("qps solve site.qps --for reply --users 8000", "how large may it be?"),
        ("qps solve site.qps --confidence '95 %'", "the capacity at 95 % confidence"),
    ),
    "explain": (
        ("qps explain site.qps web.cpu", "a load: formula, parts, where numbers come from"),
        ("qps explain site.qps replies.latency --at 5000", "with so many users"),
        ("qps explain QPS0301", "what a diagnostic means, and how to mend it"),
    ),
    "test": (
        ("qps test site.qps", "does all that is claimed hold?"),
        ("qps test specs -q", "only what fails"),
        ("qps test site.qps --observed runs.csv", "is the system still what the spec says?"),
        ("qps test specs --format junit", "for continuous integration"),
    ),
    "simulate": (
        ("qps simulate site.qps", "play it, beside what is predicted"),
        ("qps simulate site.qps --at 5000 --precision '1 %'", "longer, with so many users"),
    ),
    "matrix": (
        ("qps matrix site.qps", "every configuration, as a table"),
        ("qps matrix site.qps hardware -o rows.parquet", "one of several, to a file"),
        ("qps matrix site.qps -o rows.html", "as a page to sort and filter"),
    ),
    "report": (
        ("qps report site.qps", "a live page, site.html"),
        ("qps report site.qps --scenario peak --scenario night", "side by side"),
        ("qps report rows.parquet -o rows.html", "the page of a matrix"),
    ),
    "serve": (
        ("qps serve site.qps", "the page in a browser, made anew after each save"),
        ("qps serve site.qps --port 8000 --no-browser", "at a port of your choice"),
    ),
    "measure": (
        (
            "qps measure w.csv --vary 'rate in 1000, 4000 request/s' --dry-run -- wrk -R '{rate}'",
            "what a server uses at each rate: first, what would be run",
        ),
        ("qps measure step -- ./filter", "what one step costs"),
    ),
    "fit": (
        ("qps fit runs.csv --cores 4", "costs of what was measured, as a component to paste"),
        ("qps fit runs.csv --cores 4 --served", "of rows that a full machine has served"),
    ),
    "observe": (
        ("qps observe wrk run1.txt run2.txt -o runs.csv", "what wrk has printed, as a table"),
        ("qps observe sar monday.json --interface eth0", "what sar has seen"),
    ),
    "fmt": (
        ("qps fmt site.qps", "lay it out"),
        ("qps fmt --check specs", "is all laid out?"),
        ("qps fmt -", "lay out standard input"),
    ),
    "diff": (
        ("qps diff old.qps new.qps", "what changed, and what each change does"),
        ("qps diff main:site.qps site.qps --fail-on worse", "since what git has of it"),
    ),
    "review": (("qps review origin/main specs", "what a branch does, for a pull request"),),
    "ci": (
        ("qps ci", "what the last commit touches: layout, mistakes, claims, answers"),
        ("qps ci --base origin/main --comment comment.md", "a branch, with a comment for it"),
        ("qps ci --format github --sarif qps.sarif", "in a workflow of GitHub"),
    ),
    "history": (
        ("qps history site.qps", "what it answered since when, and what moved it"),
        ("qps history site.qps --most 50 -o history.html", "the last fifty, drawn"),
    ),
    "trace": (
        ("qps trace night.csv --period 160ms", "jitter, and the best playout buffer"),
        ("qps trace night.csv --period 160ms --latency 200ms --gaps '3 %'", "limits of yours"),
    ),
    "new": (("qps new shop", "shop.qps, a small spec that works"),),
    "lsp": (("qps lsp", "what an editor is told to start for .qps files"),),
    "completion": (
        ("qps completion bash", "a script: into ~/.bash_completion, say"),
        ("qps completion fish", "into ~/.config/fish/completions/qps.fish"),
    ),
}
"""By command: what to type, and what for."""


def examples_of(command: str) -> str:
    """Return the examples of a command as its help ends with them, within 80 columns."""
    listed = EXAMPLES[command]
    width = max(len(typed) for typed, _ in listed)
    lines = [f"  {typed:{width}}  {what}" for typed, what in listed]
    if max(map(len, lines)) > _WIDEST:
        lines = [f"  {typed}\n      {what}" for typed, what in listed]
    return "\n".join(["examples:", *lines])


_WIDEST = 80
"""Columns: of wider examples, what each is for stands below it."""
