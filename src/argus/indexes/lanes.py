# mypy: disallow-untyped-calls=False
"""What compiled loops over codes say to the processor itself: many products at once, reading ahead.

The compiler's own loop multiplies half as many codes at once, and memory is read no further ahead
than the processor guesses. Both are written in the compiler's language, for any processor.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 32
"""Codes that are multiplied at once."""
LINE = 64
"""Bytes that a processor reads from memory at once."""
INT8, INT32 = ir.IntType(8), ir.IntType(32)


@intrinsic
def product_of_lanes(context, query, rows, row):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the product of a query with one of the rows, less what is beyond whole LANES.

    query: int16, (dim,); rows: int8, (n, dim), both contiguous. Products of sixteen bits are summed
    by twos, for which processors have one instruction.
    """
    wide, half = (ir.VectorType(INT32, n) for n in (LANES, LANES // 2))

    def generate(target, builder, signature, values):  # type: ignore[no-untyped-def]
        left = target.make_array(signature.args[0])(target, builder, values[0])
        start, length = _row(target, builder, signature.args[1], values[1:])
        total = cgutils.alloca_once_value(builder, ir.Constant(half, None))
        with cgutils.for_range(builder, builder.udiv(length, length.type(LANES))) as block:
            at = builder.mul(block.index, length.type(LANES))
            codes = (_lanes(builder, builder.gep(place, [at])) for place in (left.data, start))
            product = builder.mul(*(builder.sext(of, wide) for of in codes))
            by_twos = (half([INT32(i) for i in range(first, LANES, 2)]) for first in (0, 1))
            even, odd = (builder.shuffle_vector(product, product, of) for of in by_twos)
            builder.store(builder.add(builder.load(total), builder.add(even, odd)), total)
        name = f"llvm.vector.reduce.add.v{LANES // 2}i32"
        kind = ir.FunctionType(INT32, [half])
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [builder.load(total)])

    return types.int32(query, rows, types.int64), generate


@intrinsic
def read_ahead(context, rows, row):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Have one of the rows, (n, dim) of int8, brought near; one that is not there may be named."""

    def generate(target, builder, signature, values):  # type: ignore[no-untyped-def]
        start, length = _row(target, builder, signature.args[0], values)
        place = INT8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [place, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        lines = builder.udiv(builder.add(length, length.type(LINE - 1)), length.type(LINE))
        with cgutils.for_range(builder, lines) as line:
            at = builder.gep(start, [builder.mul(line.index, length.type(LINE))])
            builder.call(prefetch, [builder.bitcast(at, place), INT32(0), INT32(3), INT32(1)])
        return target.get_dummy_value()

    return types.void(rows, types.int64), generate


def _row(target, builder, kind, values):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return where a row starts and how long it is."""
    rows = target.make_array(kind)(target, builder, values[0])
    length = builder.extract_value(rows.shape, 1)
    return builder.gep(rows.data, [builder.mul(values[1], length)]), length


def _lanes(builder, place):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return LANES codes from a place on."""
    kind = ir.VectorType(place.type.pointee, LANES).as_pointer()
    return builder.load(builder.bitcast(place, kind), align=1)
