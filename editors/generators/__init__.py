"""Makes what editors color and read QPS by, from the grammar: `python editors/generators`.

Nothing here is written by hand twice: `qps.highlighting` has the rules, `grammar/qps.lark` the
syntax. A test compares what is in the repository with what this makes.
"""
