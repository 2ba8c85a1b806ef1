"""What a team says once of all its specs: `qps.toml`, or `[tool.qps]` of a pyproject.toml."""
