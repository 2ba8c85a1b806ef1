"""Answers of `qps solve` as values and text."""
