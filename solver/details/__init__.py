"""Details that a page shows of an answer: curves, formulas, the path of a request."""
