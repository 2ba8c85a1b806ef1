"""What each `--help` ends with: commands that people type, and what each of them is for."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "check": (
        ("qps check site.qps", "check one spec"),
        ("qps check specs --format plain", "one line per error, for editors"),
    ),
    "solve": (
        ("qps solve site.qps", "capacity, bottleneck, ways to raise capacity"),
        ("qps solve site.qps --all", "every resource, limit and model error"),
        ("qps solve site.qps --set 'reply=120 kB/request'", "with another input"),
        ("qps solve site.qps --users 20000", "resources for 20,000 users"),
        ("qps solve site.qps --for reply --users 8000", "largest reply for 8,000 users"),
        ("qps solve site.qps --confidence '95 %'", "capacity at 95 % confidence"),
    ),
    "explain": (
        ("qps explain site.qps web.cpu", "formula, inputs and source of a utilization"),
        ("qps explain site.qps replies.latency --at 5000", "at 5,000 users"),
        ("qps explain --network site.qps", "stations, pools and classes of the network"),
        ("qps explain QPS0301", "an error code: cause and fix"),
    ),
    "test": (
        ("qps test site.qps", "test all claims"),
        ("qps test specs -q", "failures only"),
        ("qps test site.qps --observed runs.csv", "detect drift"),
        ("qps test specs --format junit", "a JUnit report for CI"),
    ),
    "simulate": (
        ("qps simulate site.qps", "simulate at capacity"),
        ("qps simulate site.qps --at 5000 --precision '1 %'", "at 5,000 users, to 1 %"),
        (
            "qps simulate shop.qps --over database_down --at 14000",
            "simulate an incident",
        ),
    ),
    "incident": (
        ("qps incident shop.qps", "all incidents of a spec, at capacity"),
        ("qps incident shop.qps database_down --at 14000", "one of them, for 14,000 users"),
        ("qps incident shop.qps --at 14000 -o outage.html", "write a page with its course"),
    ),
    "matrix": (
        ("qps matrix site.qps", "print a table"),
        ("qps matrix site.qps hardware -o rows.parquet", "write one matrix to a file"),
        ("qps matrix site.qps -o rows.html", "write an interactive page"),
    ),
    "report": (
        ("qps report site.qps", "write site.html"),
        ("qps report site.qps --scenario peak --scenario night", "compare two scenarios"),
        ("qps report rows.parquet -o rows.html", "a page of matrix results"),
    ),
    "serve": (
        ("qps serve site.qps", "reload on each save"),
        ("qps serve site.qps --port 8000 --no-browser", "use port 8000"),
    ),
    "plan": (
        ("qps plan shop.qps --users 20000", "the cheapest configuration for 20,000 users"),
        ("qps plan shop.qps --users 2028-06", "for the forecast until June 2028"),
    ),
    "metrics": (
        ("qps metrics site.qps", "print metrics for Prometheus"),
        ("qps metrics site.qps --at 5000 -o site.prom", "for 5,000 users, to a file"),
        ("qps metrics site.qps --dashboard site.json -o site.prom", "with a Grafana dashboard"),
    ),
    "measure": (
        (
            "qps measure w.csv --vary 'rate in 1, 4 request/s' --dry-run -- wrk -R '{rate}'",
            "list the runs at two request rates, without running them",
        ),
        ("qps measure step -- ./filter", "service demand of one command"),
    ),
    "fit": (
        ("qps fit runs.csv --cores 4", "print a component to paste"),
        ("qps fit runs.csv --cores 4 --served", "rates are throughput"),
        ("qps fit threads.csv --by threads", "scalability from a closed load test"),
    ),
    "observe": (
        ("qps observe run1.txt run2.txt -o runs.csv", "a table from results of any tool"),
        ("qps observe runs.csv --column 'Throughput=request/s'", "state what a column is"),
        ("qps observe sar monday.json --interface eth0", "a table from sar"),
    ),
    "fmt": (
        ("qps fmt site.qps", "format a spec"),
        ("qps fmt --check specs", "fail if a file would be reformatted"),
        ("qps fmt -", "format standard input"),
    ),
    "diff": (
        ("qps diff old.qps new.qps", "compare two files"),
        ("qps diff main:site.qps site.qps --fail-on worse", "fail if it is worse than on main"),
    ),
    "review": (("qps review origin/main specs", "compare with origin/main"),),
    "ci": (
        ("qps ci", "check what the last commit affects"),
        ("qps ci --base origin/main --comment comment.md", "check a branch, write a comment"),
        ("qps ci --format github --sarif qps.sarif", "annotate a GitHub workflow run"),
    ),
    "history": (
        ("qps history site.qps", "capacity by commit, with causes"),
        ("qps history site.qps --limit 50 -o history.html", "a chart of 50 commits"),
    ),
    "trace": (
        ("qps trace night.csv --period 160ms", "jitter and best playout buffer"),
        ("qps trace night.csv --period 160ms --latency 200ms --gaps '3 %'", "with other limits"),
    ),
    "start": (
        ("qps start", "ask what you have"),
        ("qps start --from traces", "the steps from traces to an answer"),
    ),
    "new": (
        ("qps new site", "write site.qps, a small web site"),
        ("qps new --example kafka", "write kafka.qps, an event pipeline"),
        ("qps new mine --example llm", "write mine.qps, an LLM chat"),
    ),
    "lsp": (("qps lsp", "start the server (editors do this)"),),
    "completion": (
        ("qps completion bash", "save it to ~/.bash_completion"),
        ("qps completion fish", "save it to ~/.config/fish/completions/qps.fish"),
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
