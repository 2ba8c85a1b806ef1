"""Times behind parallel calls: forks in series, within each other, and beside stages in a row."""
