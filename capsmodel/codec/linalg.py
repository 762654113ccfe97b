"""Linear algebra over GF(256): products, inverses, and elimination row by row."""

import functools
from typing import Any

import numpy as np
from numba import types

from capsmodel._compilation import compiled, jit
from capsmodel.codec.gf256 import EXP, INV, LOG, MUL
from capsmodel.codec.inputs import CodecError, Flags, Ints, Packets, described

_PRODUCTS = 1 << 27  # looked up in a tenth of a second
EXP_OF_SUM = np.tile(EXP[:255], 3)  # powers up to 764, the largest sum of three reduced logarithms


def _reduce(matrix: Packets, first: int, end: int, rank: int) -> int:
    """Reduce `matrix`, in place, by columns first .. end - 1, given the rank of those before; return that of all."""
    for column in range(first, end):
        pivot = rank
        while pivot < matrix.shape[0] and matrix[pivot, column] == 0:
            pivot += 1
        if pivot == matrix.shape[0]:
            continue
        scale = INV[matrix[pivot, column]]
        for j in range(matrix.shape[1]):
            value = MUL[scale, matrix[pivot, j]]
            matrix[pivot, j] = matrix[rank, j]
            matrix[rank, j] = value
        for i in range(matrix.shape[0]):
            factor = matrix[i, column]
            if i != rank and factor != 0:
                for j in range(matrix.shape[1]):
                    matrix[i, j] ^= MUL[factor, matrix[rank, j]]
        rank += 1
    return rank


def _cauchy_recovery(points: Packets, scales: Ints, ids: Ints, lost: Ints) -> Packets:
    """Return the recovery matrix of :func:`cauchy_recovery`."""
    k, e = ids.size, lost.size
    weights = np.empty(k + e, np.int64)
    for i in range(k + e):
        number = ids[i] if i < k else lost[i - k]
        weight = scales[number]
        for j in lost:
            weight += LOG[points[number] ^ points[j]]
        for q in ids:
            if q >= k:
                weight -= LOG[points[number] ^ points[q]]
        weights[i] = weight % 255
    matrix = np.empty((e, k), np.uint8)
    for i in range(e):
        for t in range(k):
            log = LOG[points[lost[i]] ^ points[ids[t]]]
            matrix[i, t] = EXP_OF_SUM[weights[t] + (255 - weights[k + i]) + (255 - log)]
    return matrix


@functools.cache
def _compiled_reduce() -> Any:
    return compiled(_reduce, types.intp(types.uint8[:, ::1], types.intp, types.intp, types.intp))


@functools.cache
def _compiled_recovery() -> Any:
    ints = types.Array(types.int64, 1, "C", readonly=True)
    return compiled(
        _cauchy_recovery, types.uint8[:, ::1](types.Array(types.uint8, 1, "C", readonly=True), ints, ints, ints)
    )


def _checked(matrix: Packets) -> Packets:
    if getattr(matrix, "dtype", None) != np.uint8 or matrix.ndim != 2:
        raise CodecError(f"the matrix is {described(matrix)}, but uint8, (rows, columns) is expected")
    return matrix


def _reduced(matrix: Packets, columns: int) -> int:
    """Bring `matrix` to reduced row echelon form over its first `columns` columns, in place; return the rank.

    In parts of a tenth of a second, between which Python hears of Ctrl-C.
    """
    reduce, rank, part = _compiled_reduce(), 0, max(1, _PRODUCTS // max(1, matrix.size))
    for first in range(0, columns, part):
        rank = reduce(matrix, first, min(first + part, columns), rank)
    return int(rank)


def rank(matrix: Packets) -> int:
    """Return the rank over GF(2^8) of a uint8 matrix, shape (rows, columns).

    Examples
    --------
    >>> rank(np.array([[1, 2], [2, 4]], np.uint8))
    1
    """
    work = np.array(_checked(matrix), order="C")
    return _reduced(work, work.shape[1])


def inverse(matrix: Packets) -> Packets:
    """Return the inverse over GF(2^8) of a uint8 matrix, shape (size, size), by Gauss-Jordan.

    Raises
    ------
    CodecError
        When the matrix is not square or is singular; the text gives the rank.

    Examples
    --------
    >>> inverse(np.array([[0, 1], [2, 0]], np.uint8)).tolist()
    [[0, 142], [1, 0]]
    """
    size = len(_checked(matrix))
    if matrix.shape != (size, size):
        raise CodecError(f"a matrix of shape {matrix.shape} has no inverse: it must be square")
    both = np.zeros((size, 2 * size), np.uint8)
    both[:, :size] = matrix
    both.reshape(-1)[size :: 2 * size + 1] = 1
    rank = _reduced(both, size)
    if rank < size:
        raise CodecError(f"the matrix of size {size} has rank {rank}: it is singular")
    return both[:, size:].copy()


def cauchy_recovery(points: Packets, *, scales: Ints, ids: Ints, lost: Ints) -> Packets:
    r"""Return the matrix that gives lost source packets from k received packets of a code of Cauchy type.

    Parameters
    ----------
    points : array of uint8, shape (n,)
        Distinct field elements: x_0 .. x_{k-1} of the source packets, then y_0 .. y_{r-1} of the repair packets.
    scales : array of int64, shape (n,)
        Logarithms: log b_i for source packet i, -log a_p for repair packet p.
    ids : array of int64, shape (k,)
        Numbers of the received packets, distinct, in any order.
    lost : array of int64, shape (e,)
        Numbers of the source packets that are not among `ids`; e is then the number of repair packets in `ids`.

    Returns
    -------
    array of uint8, shape (e, k)
        D with lost packets = D . received packets.

    Notes
    -----
    In such a code, repair packet p is :math:`r_p = a_p \sum_i b_i s_i / (y_p + x_i)`. Let E be the lost source
    packets, Q the repair packets received. The syndromes :math:`r_q / a_q + \sum_{i \notin E} b_i s_i / (y_q + x_i)`
    are a Cauchy matrix times the :math:`b_j s_j, j \in E`. Cauchy's closed-form inverse times the syndromes is, after
    a partial-fraction step, again of Cauchy type:

    .. math:: D_{jt} = \frac{w_t}{w_j (x_j + t)}, \qquad
       w_t = \sigma_t \prod_{i \in E, i \ne t} (t + x_i) / \prod_{q \in Q, q \ne t} (t + y_q)

    with t the point of a received packet and :math:`\sigma` its scale. So the e syndromes and the e x e solution are
    one matrix of e k entries, each one addition of logarithms, and the packets are read once. Work: 2 e (k + e) + e k
    look-ups; nothing of size k x k is inverted.

    Examples
    --------
    One repair packet 1/(y + x): packet 0 is lost, so 1/(2+0) s_0 = r + 1/(2+1) s_1.

    >>> cauchy_recovery(np.arange(3, dtype=np.uint8), scales=np.zeros(3, np.int64), ids=np.array([1, 2]),
    ...                 lost=np.array([0])).tolist()
    [[245, 2]]
    """
    recovery: Packets = _compiled_recovery()(points, scales, ids, lost)
    return recovery


_SUMS = 1 << 29  # added in a tenth of a second


@jit
def add_scaled(target: Packets, products: Packets, source: Packets) -> None:
    """Add f times `source` to `target`, given the 256 products with f."""
    for j in range(target.size):
        target[j] ^= products[source[j]]


@jit
def scale(row: Packets, products: Packets) -> None:
    """Multiply `row` by f, given the 256 products with f."""
    for j in range(row.size):
        row[j] = products[row[j]]


@jit
def _absorb(echelon: Packets, held: Flags, row: Packets, products: Packets, inverses: Packets) -> int:
    """Reduce `row` by the echelon rows; keep what is left under its first non-zero column; -1 when nothing is."""
    for column in range(row.size):
        factor = row[column]
        if factor == 0:
            continue
        if held[column]:
            add_scaled(row[column:], products[factor], echelon[column, column:])
        else:
            scale(row, products[inverses[factor]])
            echelon[column] = row
            held[column] = True
            return column
    return -1


@jit
def _absorb_rows(
    echelon: Packets, held: Flags, rows: Packets, products: Packets, inverses: Packets, innovative: Flags
) -> None:
    for i in range(len(rows)):
        innovative[i] = _absorb(echelon, held, rows[i], products, inverses) >= 0


def absorb(echelon: Packets, held: Flags, rows: Packets) -> Flags:
    """Say which packets are innovative, one after the other, and remember those.

    Parameters
    ----------
    echelon : array of uint8, shape (k, k)
        Row c has its first non-zero element, 1, in column c; valid where `held`. Changed in place.
    held : array of bool, shape (k,)
        Which rows of `echelon` are in use. Changed in place.
    rows : array of uint8, shape (m, k)
        Coefficients of the packets. Destroyed.

    Returns
    -------
    array of bool, shape (m,)
        Whether each packet is independent of all before it.
    """
    innovative = np.empty(len(rows), np.bool_)
    part = max(1, _SUMS // max(1, echelon.size))
    for first in range(0, len(rows), part):  # Python hears of Ctrl-C between two parts
        these = slice(first, first + part)
        _absorb_rows(echelon, held, rows[these], MUL, INV, innovative[these])
    return innovative


@jit
def reduce_row(rows: Packets, held: Flags, row: Packets, products: Packets) -> int:
    """Subtract from `row` the rows of its columns; return how many. Row c of `rows` has a 1 in column c where held.

    The rows are in reduced form, zero in each other's columns, so that the factors are those `row` came with.
    """
    operations = 0
    for column in range(held.size):
        factor = row[column]
        if factor and held[column]:
            add_scaled(row, products[factor], rows[column])
            operations += 1
    return operations


@jit
def clear_column(rows: Packets, others: Ints, column: int, row: Packets, products: Packets) -> int:
    """Subtract `row`, 1 in `column`, from those of the `others` that have a coefficient there; return how many."""
    operations = 0
    for other in others:
        factor = rows[other, column]
        if factor:
            add_scaled(rows[other], products[factor], row)
            operations += 1
    return operations
