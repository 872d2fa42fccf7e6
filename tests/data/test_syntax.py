"""A syntax tree is made although something else parses in the middle."""

import ast
import gc

import pytest

from argus.data.syntax import syntax_tree

SOURCE = "\n".join(f"def f{n}(a=(1, [2])): return [x for x in (a, {n})]" for n in range(200))


class Parses:
    """Garbage in a circle, whose finalizer parses: it runs in the middle of another parse."""

    def __init__(self):
        self.circle = self

    def __del__(self):
        ast.parse("a = b(c)[0]")


def test_a_finalizer_that_parses_meanwhile_does_no_harm():
    before = gc.get_threshold()
    gc.collect()
    try:
        for threshold in range(20, 60):
            gc.set_threshold(0)
            garbage = [Parses() for _ in range(3)]
            del garbage
            gc.set_threshold(threshold)
            assert len(syntax_tree(SOURCE).body) == 200
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("source", ["def", "a\0b", b"\xff"])
def test_what_is_no_python_is_told(source):
    with pytest.raises((SyntaxError, ValueError)):
        syntax_tree(source)
