r"""The parity-check matrix of LDPC-Staircase (RFC 5170) and which symbols a reception determines.

| Quantity | Symbol | Name | Unit | Equation |
|---|---|---|---|---|
| state of the generator | s | `next_state` | – | RFC 5170, section 5.7 |
| check matrix: random left, staircase right | H | `CheckMatrix`, `check_matrix` | – | RFC 5170, sections 6.2, 6.3 |
| symbols found by peeling | | `peel` | symbol | RFC 5170, section 6.6 |
| receptions needed | k' | `packets_needed` | packet | caps, section VI-A |

Symbols are numbered as packets are: 0 to k - 1 source, k to n - 1 repair. A row of H lists symbols whose XOR is zero.
Nothing in this module touches packet bytes: what a reception determines depends on the numbers received alone.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from capsmodel.checks import require
from capsmodel.codec.base import whole_number

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

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

    row_start: Ints
    row_symbols: Ints
    symbol_start: Ints
    symbol_rows: Ints
    extra_ones: int


@njit(cache=True)
def next_state(state: int) -> int:
    """Return the next state of the generator, 16807 s mod (2^31 - 1)."""
    return 16807 * state % _PRIME


@njit(cache=True)
def _rand(state: npt.NDArray[np.int64], limit: int) -> int:
    """Advance the one-element `state` and return a number in 0 .. limit - 1."""
    state[0] = next_state(state[0])
    number: int = state[0] * limit // _PRIME
    return number


@njit(cache=True)
def _holds(rows: Ints, count: int, row: int) -> bool:
    """Say whether `row` is among the first `count` of `rows`."""
    h = 0
    while h < count and rows[h] != row:
        h += 1
    return h < count


@njit(cache=True)
def _usable(pool: Ints, first: int, rows: Ints, count: int) -> bool:
    """Say whether some entry of `pool` from `first` on is a row that the column does not hold yet."""
    i = first
    while i < pool.size and _holds(rows, count, pool[i]):
        i += 1
    return i < pool.size


@njit(cache=True)
def _source_columns(k: int, r: int, n1: int, state: npt.NDArray[np.int64]) -> Ints:
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


@njit(cache=True)
def _extra_columns(k: int, columns: Ints, r: int, state: npt.NDArray[np.int64]) -> Ints:
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


def _compressed(owner: Ints, member: Ints, owners: int) -> tuple[Ints, Ints]:
    """Return start offsets and members sorted by owner, then member."""
    order = np.lexsort((member, owner))
    start = np.zeros(owners + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=start[1:])
    return start, member[order]


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
    k, r, n1 = whole_number("k", k, minimum=1), whole_number("r", r, minimum=1), whole_number("n1", n1, minimum=3)
    seed = whole_number("seed", seed, minimum=1)
    require(n1 <= 10, f"n1 = {n1}, but RFC 5170 signals N1 in 3 bits: choose 3 to 10")
    require(n1 <= r, f"n1 = {n1} ones do not fit a column of r = {r} rows: choose n1 <= r or r >= {n1}")
    require(seed < _PRIME, f"seed = {seed}, but the generator's seeds are 1 to 2**31 - 2")
    require(k + r <= MAX_SYMBOLS, f"k + r = {k + r}, but this codec numbers at most {MAX_SYMBOLS} packets of a unit")
    state = np.array([seed], dtype=np.int64)
    columns = _source_columns(k, r, n1, state)
    extra = _extra_columns(k, columns, r, state)
    return _assembled(k, r, columns, extra)


def _assembled(k: int, r: int, columns: Ints, extra: Ints) -> CheckMatrix:
    """Join the left part's columns, the extra ones and the staircase into one sparse matrix."""
    steps = np.arange(r, dtype=np.int32)
    extra_rows, extra_slots = np.nonzero(extra >= 0)
    rows = np.concatenate([columns.ravel(), extra_rows.astype(np.int32), steps, steps[1:]])
    source = np.repeat(np.arange(k, dtype=np.int32), columns.shape[1])
    symbols = np.concatenate([source, extra[extra_rows, extra_slots], steps + k, steps[:-1] + k]).astype(np.int32)
    row_start, row_symbols = _compressed(rows, symbols, r)
    symbol_start, symbol_rows = _compressed(symbols, rows, k + r)
    return CheckMatrix(row_start, row_symbols, symbol_start, symbol_rows, len(extra_rows))


@njit(cache=True)
def peel(h: CheckMatrix, k: int, known: Flags, steps: Ints) -> int:
    """Find symbols one at a time from rows with one unknown; mark them in `known` and record the steps.

    Step (row, symbol) says: symbol = XOR of the row's other symbols. Returns the number of steps; stops when all
    sources are known. A row keeps the count and the XOR of its unknown symbols' numbers, so that the last unknown
    is named by the XOR.
    """
    r = h.row_start.size - 1
    count = np.zeros(r, dtype=np.int32)
    name = np.zeros(r, dtype=np.int32)
    ready = np.empty(r, dtype=np.int32)
    n_ready = 0
    for row in range(r):
        for symbol in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
            if not known[symbol]:
                count[row] += 1
                name[row] ^= symbol
        if count[row] == 1:
            ready[n_ready] = row
            n_ready += 1
    missing = k - np.count_nonzero(known[:k])
    n_steps = 0
    while n_ready and missing:
        n_ready -= 1
        row, symbol = ready[n_ready], name[ready[n_ready]]
        if count[row] == 0:
            continue
        steps[n_steps, 0], steps[n_steps, 1] = row, symbol
        n_steps += 1
        known[symbol] = True
        missing -= symbol < k
        for other in h.symbol_rows[h.symbol_start[symbol] : h.symbol_start[symbol + 1]]:
            count[other] -= 1
            name[other] ^= symbol
            if count[other] == 1:
                ready[n_ready] = other
                n_ready += 1
    return n_steps


@njit(cache=True)
def residual(h: CheckMatrix, k: int, known: Flags) -> tuple[Ints, Ints, Words, int]:
    """Return what peeling left: rows with unknowns, unknown symbols (repair first), their bits, number of repairs."""
    n = known.size
    position = np.full(n, -1, dtype=np.int32)
    unknown = np.empty(n, dtype=np.int32)
    size = 0
    repairs = 0
    for shifted in range(k, n + k):  # repair symbols first, then sources
        symbol = shifted % n
        if not known[symbol]:
            position[symbol] = size
            unknown[size] = symbol
            size += 1
            repairs += symbol >= k
    rows = np.empty(h.row_start.size - 1, dtype=np.int32)
    bits = np.zeros((rows.size, (size + 63) // 64), dtype=np.uint64)
    used = 0
    for row in range(rows.size):
        any_unknown = False
        for symbol in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
            at = position[symbol]
            if at >= 0:
                bits[used, at >> 6] |= np.uint64(1) << np.uint64(at & 63)
                any_unknown = True
        if any_unknown:
            rows[used] = row
            used += 1
    return rows[:used], unknown[:size], bits[:used], repairs


@njit(cache=True)
def _bit(bits: Words, row: int, column: int) -> bool:
    word = bits[row, column >> 6] >> np.uint64(column & 63)
    return bool(word & np.uint64(1))


@njit(cache=True)
def xor_into(target: npt.NDArray[np.uint8], packet: npt.NDArray[np.uint8]) -> None:
    """XOR `packet` into `target`; a loop, because an array expression would make a temporary array."""
    for j in range(target.size):
        target[j] ^= packet[j]


@njit(cache=True)
def eliminate(bits: Words, columns: int, repairs: int, data: npt.NDArray[np.uint8], order: Ints) -> bool:
    """Solve for the unknown sources by Gaussian elimination over GF(2); say whether all are determined.

    The unknown repair symbols are the first `repairs` columns: they are cleared from the rows below only, and may
    stay undetermined. The sources after them need a pivot each and are cleared from all later rows. Every row
    operation is applied to `data` (the rows' XOR of known symbols; zero bytes wide when only the answer matters).
    On success ``data[order[j]]`` is the j-th unknown source.
    """
    rank = 0
    base = 0
    rows = np.arange(bits.shape[0])
    for column in range(columns):
        if column == repairs:
            base = rank
        pivot = rank
        while pivot < rows.size and not _bit(bits, rows[pivot], column):
            pivot += 1
        if pivot == rows.size:
            if column >= repairs:
                return False
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        lead = rows[rank]
        for other in range(base if column >= repairs else rank + 1, rows.size):
            row = rows[other]
            if other != rank and _bit(bits, row, column):
                bits[row] ^= bits[lead]
                xor_into(data[row], data[lead])
        rank += 1
    for j in range(columns - repairs):
        order[j] = rows[base + j]
    return True


@njit(cache=True)
def determined(h: CheckMatrix, k: int, held: Flags, elimination: bool) -> bool:
    """Say whether the symbols in `held` determine all sources, by peeling or with Gaussian elimination after it."""
    known = held.copy()
    peel(h, k, known, np.empty((known.size, 2), dtype=np.int32))
    if np.all(known[:k]):
        return True
    if not elimination:
        return False
    _, unknown, bits, repairs = residual(h, k, known)
    order = np.empty(unknown.size, dtype=np.int32)
    return eliminate(bits, unknown.size, repairs, np.empty((bits.shape[0], 0), dtype=np.uint8), order)


@njit(cache=True)
def packets_needed(h: CheckMatrix, k: int, arrivals: npt.NDArray[np.int64], elimination: bool) -> int:
    """Return the smallest m such that the first m of the n `arrivals` determine all sources."""
    n = arrivals.size
    low, high = k, n
    while low < high:  # more packets never determine less, so bisection applies
        middle = (low + high) // 2
        held = np.zeros(n, dtype=np.bool_)
        held[arrivals[:middle]] = True
        if determined(h, k, held, elimination):
            high = middle
        else:
            low = middle + 1
    return low
