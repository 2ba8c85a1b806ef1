"""The site of the documentation: `python docs/website`, one folder that works from `file://`.

Pages stand as in the repository (README.md, docs, specs …), so that their links hold in both
places. Indexes get cards, old addresses lead on, and each spec in a page gets its live page.
"""
