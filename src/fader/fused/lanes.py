"""Eight integers at a time, for lists so short that a loop over them is not turned into vector code.

Written as LLVM's vectors of eight, which it cuts to what a machine has; in uncompiled runs as plain Python. An array's
bounds are the caller's: eight integers from the given place on are read, and written.

A packed row of a mention is start | length << 32 | last << 40 | slot << 41, where a length of `LONG` is not said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped_cgutils
from numpy.typing import NDArray

from fader.kernel import vector_kernel

cgutils: Any = untyped_cgutils
I32 = NDArray[np.int32]
U64 = NDArray[np.uint64]
LANES = 8
LONG = 255
MOST = np.int64((1 << 63) - 1)
MOST_SLOTS = 1 << 23  # that a packed row has bits for
_INTEGER, _VECTOR = ir.IntType(32), ir.VectorType(ir.IntType(32), LANES)
_LONG_VECTOR = ir.VectorType(ir.IntType(64), LANES)
_PLACES = ir.Constant(_VECTOR, list(range(LANES)))


def _unpack_rows(rows: U64, at: np.uintp, start: I32, end: I32, slot: I32, to: np.uintp) -> None:
    """Starts, ends and slot << 1 | last of packed rows `rows[at:]`, each to `[to:]` of an array."""
    own = slice(int(to), int(to) + LANES)
    packed = rows[int(at) : int(at) + LANES]
    word = (packed >> np.uint64(32)).astype(np.int64)
    start[own] = (packed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    end[own] = start[own] + (word & LONG)
    slot[own] = word >> 8


def _fetch_early(rows: U64, at: np.uintp) -> None:
    """Ask for what is at `rows[at]` before it is read."""


def _order_of(value: float) -> np.int64:
    """An integer for a number: larger numbers have larger ones. Integers are compared in a third of the time."""
    bits = np.float64(value).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & MOST)


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


def _load(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    return builder.load(_address(context, builder, array_type, array, at, _VECTOR), align=4)


def _store(context: Any, builder: Any, lanes: Any, array_type: Any, array: Any, at: Any) -> None:
    builder.store(lanes, _address(context, builder, array_type, array, at, _VECTOR), align=4)


def _put_nearest(
    start: I32,
    to_start: np.uintp,
    end: I32,
    to_end: np.uintp,
    positions: I32,
    first: np.uintp,
    last: np.uintp,
    length: np.int32,
    code: I32,
    to: np.uintp,
    cap: np.int32,
    left: np.int32,
) -> None:
    """The same with the least of the occurrences `positions[first:last]`; what is behind stays as it is."""
    n = min(LANES, int(left))
    starts, ends = start[int(to_start) : int(to_start) + n], end[int(to_end) : int(to_end) + n]
    found = np.full(n, cap, dtype=np.int64)
    for p in positions[int(first) : int(last)].tolist():
        found = np.minimum(found, np.maximum(1, np.maximum(starts - (p + length - 2), p + 2 - ends)))
    code[int(to) : int(to) + n] = found


def _address(context: Any, builder: Any, array_type: Any, array: Any, at: Any, to: Any) -> Any:
    """Where an array's element is, as a pointer to something else."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), to.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(_INTEGER, 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_VECTOR, [0] * LANES))


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed(">", a, b), a, b)


def _compile_unpacking(_typing: Any, rows: Any, at: Any, start: Any, end: Any, slot: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        packed = builder.load(_address(context, builder, signature.args[0], args[0], args[1], _LONG_VECTOR), align=8)
        first = builder.trunc(packed, _VECTOR)
        word = builder.trunc(builder.lshr(packed, ir.Constant(_LONG_VECTOR, [32] * LANES)), _VECTOR)
        length = builder.and_(word, ir.Constant(_VECTOR, [LONG] * LANES))
        columns = first, builder.add(first, length), builder.lshr(word, ir.Constant(_VECTOR, [8] * LANES))
        for place, lanes in zip((2, 3, 4), columns, strict=True):
            _store(context, builder, lanes, signature.args[place], args[place], args[5])
        return context.get_dummy_value()

    return types.void(rows, types.uintp, start, end, slot, types.uintp), generate


def _compile_fetching(_typing: Any, rows: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        pointer = _address(context, builder, signature.args[0], args[0], args[1], byte)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _INTEGER, _INTEGER, _INTEGER])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
        builder.call(fetch, [pointer, *(ir.Constant(_INTEGER, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(rows, types.uintp), generate


def _compile_order(_typing: Any, _value: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        long = ir.IntType(64)
        bits = builder.bitcast(args[0], long)
        sign = builder.ashr(bits, ir.Constant(long, 63))
        return builder.xor(bits, builder.and_(sign, ir.Constant(long, int(MOST))))

    return types.int64(types.float64), generate


def _compile_numbers(_typing: Any, first: Any, target: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = builder.add(_splat(builder, args[0]), _PLACES)
        _store(context, builder, lanes, signature.args[1], args[1], args[2])
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
        _store(context, builder, builder.and_(nearest, is_own), signature.args[3], args[3], args[4])
        return context.get_dummy_value()

    return types.void(start, end, types.uintp, code, types.uintp, i32, i32, i32, i32), generate


def _compile_nearest(
    _typing: Any,
    start: Any,
    to_start: Any,
    end: Any,
    to_end: Any,
    positions: Any,
    first: Any,
    last: Any,
    length: Any,
    code: Any,
    to: Any,
    cap: Any,
    left: Any,
) -> Any:
    i32, place = types.int32, types.uintp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, two = signature.args, ir.Constant(_INTEGER, 2)
        starts = _load(context, builder, kinds[0], args[0], args[1])
        ends = _load(context, builder, kinds[2], args[2], args[3])
        nearest = cgutils.alloca_once_value(builder, _splat(builder, args[10]))
        with cgutils.for_range_slice(builder, args[5], args[6], ir.Constant(args[5].type, 1)) as (q, _count):
            p = builder.load(_address(context, builder, kinds[4], args[4], q, _INTEGER), align=4)
            before = _splat(builder, builder.sub(builder.add(p, args[7]), two))
            behind = _splat(builder, builder.add(p, two))
            found = _larger(builder, builder.sub(starts, before), builder.sub(behind, ends))
            found = _larger(builder, found, ir.Constant(_VECTOR, [1] * LANES))
            least = builder.load(nearest)
            builder.store(builder.select(builder.icmp_signed("<", found, least), found, least), nearest)
        is_own = builder.icmp_signed("<", _PLACES, _splat(builder, args[11]))
        pointer = _address(context, builder, kinds[8], args[8], args[9], _VECTOR)
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, pointer.type, _INTEGER, is_own.type])
        store = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.v{LANES}i32.p0")
        builder.call(store, [builder.load(nearest), pointer, ir.Constant(_INTEGER, 4), is_own])
        return context.get_dummy_value()

    arguments = start, place, end, place, positions, place, place, i32, code, place, i32, i32
    return types.void(*arguments), generate


unpack_rows = vector_kernel(_unpack_rows, _compile_unpacking)
fetch_early = vector_kernel(_fetch_early, _compile_fetching)
number_lanes = vector_kernel(_number_lanes, _compile_numbers)
order_of = vector_kernel(_order_of, _compile_order)
put_codes = vector_kernel(_put_codes, _compile_codes)
put_nearest = vector_kernel(_put_nearest, _compile_nearest)
