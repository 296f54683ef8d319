"""Four integers at a time, for lists so short that a loop over them is not turned into vector code.

Written as LLVM's vectors of four, which every machine has in some form; in uncompiled runs as plain Python. An array's
bounds are the caller's: four integers from the given place on are read, and written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import NDArray

from fader.kernel import vector_kernel

I32 = NDArray[np.int32]
LANES = 4
_INTEGER, _VECTOR = ir.IntType(32), ir.VectorType(ir.IntType(32), LANES)
_PLACES = ir.Constant(_VECTOR, list(range(LANES)))


def _copy_lanes(source: I32, at: np.uintp, target: I32, to: np.uintp) -> None:
    """Copy integers `source[at:]` to `target[to:]`."""
    target[to : to + np.uintp(LANES)] = source[at : at + np.uintp(LANES)].copy()


def _number_lanes(first: np.int32, target: I32, to: np.uintp) -> None:
    """first, first + 1 and so on to `target[to:]`."""
    target[int(to) : int(to) + LANES] = int(first) + np.arange(LANES)


def _put_codes(
    start: I32,
    end: I32,
    at: np.uintp,
    code: I32,
    to: np.uintp,
    before: np.int32,
    behind: np.int32,
    cap: np.int32,
    left: np.int32,
) -> None:
    """code[to + x] = min(cap, max(1, start[at + x] - before, behind - end[at + x])) for x < left, and 0 behind."""
    own = slice(int(at), int(at) + LANES)
    found = np.minimum(cap, np.maximum(1, np.maximum(start[own] - before, behind - end[own])))
    code[int(to) : int(to) + LANES] = np.where(np.arange(LANES) < left, found, 0)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Where a vector of an array's integers begins."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _load(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    return builder.load(_pointer(context, builder, array_type, array, at), align=4)


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(_INTEGER, 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_VECTOR, [0] * LANES))


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed(">", a, b), a, b)


def _compile_copy(_typing: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _load(context, builder, signature.args[0], args[0], args[1])
        builder.store(lanes, _pointer(context, builder, signature.args[2], args[2], args[3]), align=4)
        return context.get_dummy_value()

    return types.void(source, types.uintp, target, types.uintp), generate


def _compile_numbers(_typing: Any, first: Any, target: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = builder.add(_splat(builder, args[0]), _PLACES)
        builder.store(lanes, _pointer(context, builder, signature.args[1], args[1], args[2]), align=4)
        return context.get_dummy_value()

    return types.void(types.int32, target, types.uintp), generate


def _compile_codes(
    _typing: Any, start: Any, end: Any, at: Any, code: Any, to: Any, before: Any, behind: Any, cap: Any, left: Any
) -> Any:
    i32 = types.int32

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        before, behind, cap, left = (_splat(builder, value) for value in args[5:])
        start = _load(context, builder, signature.args[0], args[0], args[2])
        end = _load(context, builder, signature.args[1], args[1], args[2])
        nearest = _larger(builder, builder.sub(start, before), builder.sub(behind, end))
        nearest = _larger(builder, nearest, ir.Constant(_VECTOR, [1] * LANES))
        nearest = builder.select(builder.icmp_signed("<", nearest, cap), nearest, cap)
        is_own = builder.sext(builder.icmp_signed("<", _PLACES, left), _VECTOR)
        to = _pointer(context, builder, signature.args[3], args[3], args[4])
        builder.store(builder.and_(nearest, is_own), to, align=4)
        return context.get_dummy_value()

    return types.void(start, end, types.uintp, code, types.uintp, i32, i32, i32, i32), generate


copy_lanes = vector_kernel(_copy_lanes, _compile_copy)
number_lanes = vector_kernel(_number_lanes, _compile_numbers)
put_codes = vector_kernel(_put_codes, _compile_codes)
