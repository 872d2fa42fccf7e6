"""Python source as a syntax tree."""

from __future__ import annotations

import ast

ATTEMPTS = 3


def syntax_tree(source: str | bytes) -> ast.Module:
    """Parse Python source. SyntaxError or ValueError for what is none.

    CPython before 3.11.8 and 3.12.1 counts the depth once for all: where a thread or a finalizer
    parses meanwhile, this ends with SystemError (gh-106905), and is done again.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)
