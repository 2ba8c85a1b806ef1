"""What a page tells of an answer beside it: curves, formulas, the path of a request."""
