"""Revisions of specs: files as git has them, where a page is from, and reports of changes."""
