"""Specs in a repository: what a change touches and does, for people and machines; history.

Revisions are read from git's objects: the work tree is not touched, and nothing of it is taken for
what a revision had.
"""
