"""What the pieces of a parse tree are."""

from __future__ import annotations

from qps.grammar.parsing import ParseTree, Piece, Token


def is_word(piece: Piece) -> bool:
    """Return whether a piece is a name, or a power of one, that stands in no parentheses."""
    if isinstance(piece, ParseTree) and piece.data == "raised":
        piece = piece.children[0]
    return isinstance(piece, ParseTree) and piece.data in ("reference", "sign")


def is_number(piece: Piece) -> bool:
    """Return whether a piece is a number by itself, such as `-1` and `10^3`."""
    if isinstance(piece, ParseTree) and piece.data == "negative":
        return is_number(piece.children[-1])
    return isinstance(piece, ParseTree) and piece.data in ("number", "number_power")


def is_tree(piece: Piece) -> bool:
    """Return whether a piece is a tree, not a token."""
    return isinstance(piece, ParseTree)


def tree_of(piece: Piece) -> ParseTree:
    """Return a piece that the grammar makes a tree."""
    assert isinstance(piece, ParseTree)
    return piece


def token_of(piece: Piece) -> Token:
    """Return a piece that the grammar makes a token."""
    assert isinstance(piece, Token)
    return piece
