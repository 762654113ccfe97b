r"""The parity-check matrix of LDPC-Staircase, as RFC 5170 draws it.

==========================================  ======  =============================  ====  ===========================
Quantity                                    Symbol  Name                           Unit  Equation
==========================================  ======  =============================  ====  ===========================
state of the generator                      s       `next_state`                   –     RFC 5170, section 5.7
check matrix: random left, staircase right  H       `CheckMatrix`, `check_matrix`  –     RFC 5170, sections 6.2, 6.3
==========================================  ======  =============================  ====  ===========================

Symbols are numbered as packets are: 0 to k - 1 source, k to n - 1 repair. A row of H lists symbols whose XOR is zero.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.checks import require
from capsmodel.codec.inputs import whole_number

Indices = npt.NDArray[np.int32]

_PRIME = 0x7FFFFFFF  # 2^31 - 1, modulus of the Park-Miller generator
MAX_SYMBOLS = 65535  # below it N1 k < 2^21, where the reference's scaling in doubles equals integer division


class CheckMatrix(NamedTuple):
    """Sparse check matrix H, by rows and by columns.

    Attributes
    ----------
    row_start, row_symbols
        The symbols of row i, ascending: ``row_symbols[row_start[i]:row_start[i + 1]]``.
    symbol_start, symbol_rows
        The rows of symbol j: ``symbol_rows[symbol_start[j]:symbol_start[j + 1]]``.
    extra_ones
        Ones added to rows that held fewer than two source symbols.
    """

    row_start: Indices
    row_symbols: Indices
    symbol_start: Indices
    symbol_rows: Indices
    extra_ones: int


@jit
def next_state(state: int) -> int:
    """Return the next state of the generator, 16807 s mod (2^31 - 1)."""
    return 16807 * state % _PRIME


@jit
def _rand(state: npt.NDArray[np.int64], limit: int) -> int:
    """Advance the one-element `state` and return a number in 0 .. limit - 1."""
    state[0] = next_state(state[0])
    number: int = state[0] * limit // _PRIME
    return number


@jit
def _holds(rows: Indices, count: int, row: int) -> bool:
    """Say whether `row` is among the first `count` of `rows`."""
    h = 0
    while h < count and rows[h] != row:
        h += 1
    return h < count


@jit
def _usable(pool: Indices, first: int, rows: Indices, count: int) -> bool:
    """Say whether some entry of `pool` from `first` on is a row that the column does not hold yet."""
    i = first
    while i < pool.size and _holds(rows, count, pool[i]):
        i += 1
    return i < pool.size


@jit
def _source_columns(k: int, r: int, n1: int, state: npt.NDArray[np.int64]) -> Indices:
    """Draw the rows of each source column, shape (k, N1), evenly over the rows (steps 1 and 2)."""
    pool = np.empty(n1 * k, dtype=np.int32)
    for h in range(pool.size):
        pool[h] = h % r
    columns = np.empty((k, n1), dtype=np.int32)
    first = 0
    for j in range(k):
        rows = columns[j]
        for count in range(n1):
            if _usable(pool, first, rows, count):
                i = first + _rand(state, pool.size - first)
                while _holds(rows, count, pool[i]):
                    i = first + _rand(state, pool.size - first)
                rows[count] = pool[i]
                pool[i] = pool[first]
                first += 1
            else:
                row = _rand(state, r)
                while _holds(rows, count, row):
                    row = _rand(state, r)
                rows[count] = row
    return columns


@jit
def _extra_columns(k: int, columns: Indices, r: int, state: npt.NDArray[np.int64]) -> Indices:
    """Draw up to two further source columns for each row that holds fewer than two, shape (r, 2), -1 for none."""
    ones = np.zeros(r, dtype=np.int32)
    last_column = np.empty(r, dtype=np.int32)
    for j in range(k):
        for row in columns[j]:
            ones[row] += 1
            last_column[row] = j
    extra = np.full((r, 2), -1, dtype=np.int32)
    for row in range(r):
        if ones[row] == 0:
            extra[row, 0] = _rand(state, k)
            last_column[row] = extra[row, 0]
            ones[row] = 1
        if ones[row] == 1 and k > 1:
            extra[row, 1] = _rand(state, k)
            while extra[row, 1] == last_column[row]:
                extra[row, 1] = _rand(state, k)
    return extra


def _compressed(owner: Indices, member: Indices, owners: int) -> tuple[Indices, Indices]:
    """Return start offsets and members sorted by owner, then member."""
    order = np.lexsort((member, owner))
    start = np.zeros(owners + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=start[1:])
    return start, member[order]


def checked(k: int, *, r: int, n1: int, seed: int) -> tuple[int, int, int, int]:
    """Return the parameters of a check matrix, or raise ParameterError; see `check_matrix`."""
    k, r, n1 = whole_number("k", k, minimum=1), whole_number("r", r, minimum=0), whole_number("n1", n1, minimum=3)
    seed = whole_number("seed", seed, minimum=1)
    require(n1 <= 10, f"n1 = {n1}, but RFC 5170 signals N1 in 3 bits: choose 3 to 10")
    require(n1 <= r, f"n1 = {n1} ones do not fit a column of r = {r} rows: choose n1 <= r or r >= {n1}")
    require(seed < _PRIME, f"seed = {seed}, but the generator's seeds are 1 to 2**31 - 2")
    require(k + r <= MAX_SYMBOLS, f"k + r = {k + r}, but this codec numbers at most {MAX_SYMBOLS} packets of a unit")
    return k, r, n1, seed


def check_matrix(k: int, *, r: int, n1: int, seed: int) -> CheckMatrix:
    """Check matrix of LDPC-Staircase, as RFC 5170 constructs it.

    Parameters
    ----------
    k : int
        Source packets, at least 1; k + r at most 65535.
    r : int
        Repair packets, at least `n1`.
    n1 : int
        Ones in each source column, N1 in 3 .. 10.
    seed : int
        Seed of the generator in 1 .. 2^31 - 2.

    Returns
    -------
    CheckMatrix
        H with r rows and k + r columns.

    Raises
    ------
    ParameterError
        When an argument is out of range, or N1 > r: a column cannot hold N1 different rows out of fewer.

    Notes
    -----
    The left part draws from one generator seeded once. The right part is the staircase: row i holds k + i and, for
    i >= 1, k + i - 1. N1 = r makes the left part all ones, so that code repairs one loss only.

    References
    ----------
    RFC 5170, sections 5.7, 6.2 and 6.3.

    Examples
    --------
    >>> h = check_matrix(10, r=4, n1=3, seed=1)
    >>> h.row_symbols[h.row_start[1] : h.row_start[2]].tolist()
    [1, 5, 6, 7, 8, 9, 10, 11]
    """
    k, r, n1, seed = checked(k, r=r, n1=n1, seed=seed)
    state = np.array([seed], dtype=np.int64)
    columns = _source_columns(k, r, n1, state)
    extra = _extra_columns(k, columns, r, state)
    return _assembled(k, r, columns, extra)


def _assembled(k: int, r: int, columns: Indices, extra: Indices) -> CheckMatrix:
    """Join the left part's columns, the extra ones and the staircase into one sparse matrix."""
    steps = np.arange(r, dtype=np.int32)
    extra_rows, extra_slots = np.nonzero(extra >= 0)
    rows = np.concatenate([columns.ravel(), extra_rows.astype(np.int32), steps, steps[1:]])
    source = np.repeat(np.arange(k, dtype=np.int32), columns.shape[1])
    symbols = np.concatenate([source, extra[extra_rows, extra_slots], steps + k, steps[:-1] + k]).astype(np.int32)
    row_start, row_symbols = _compressed(rows, symbols, r)
    symbol_start, symbol_rows = _compressed(symbols, rows, k + r)
    return CheckMatrix(row_start, row_symbols, symbol_start, symbol_rows, len(extra_rows))
