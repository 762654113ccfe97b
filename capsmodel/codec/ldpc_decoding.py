r"""Which symbols a reception of LDPC-Staircase determines.

====================================  ======  ================  ======  =====================
Quantity                              Symbol  Name              Unit    Equation
====================================  ======  ================  ======  =====================
symbols found by peeling                      `peel`            symbol  RFC 5170, section 6.6
sources determined                            `determined`      –       RFC 5170, section 6.6
receptions needed                     k'      `packets_needed`  packet  caps, section VI-A
equations kept from packet to packet          `insert`          –
====================================  ======  ================  ======  =====================

What a reception determines depends on the numbers received alone; nothing in this module touches packet bytes.
"""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.codec.errors import Flags
from capsmodel.codec.ldpc_matrix import CheckMatrix, Ints

Words = npt.NDArray[np.uint64]


@jit
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


@jit
def residual(h: CheckMatrix, k: int, known: Flags, extra: int) -> tuple[Ints, Ints, Words, int]:
    """Return what peeling left: rows with unknowns, unknown symbols (repair first), their bits, number of repairs.

    Column c of the bits belongs to the c-th unknown symbol. With `extra` = 1 further words hold one bit for each row,
    so that row operations on the bits record which rows they add.
    """
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
    words = (size + 63) // 64
    bits = np.zeros((rows.size, words + extra * (rows.size + 63) // 64), dtype=np.uint64)
    used = 0
    for row in range(rows.size):
        any_unknown = False
        for symbol in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
            at = position[symbol]
            if at >= 0:
                bits[used, at >> 6] |= np.uint64(1) << np.uint64(at & 63)
                any_unknown = True
        if any_unknown:
            if extra:
                bits[used, words + (used >> 6)] |= np.uint64(1) << np.uint64(used & 63)
            rows[used] = row
            used += 1
    return rows[:used], unknown[:size], bits[:used], repairs


@jit
def bit(bits: Words, row: int, column: int) -> bool:
    """Say whether a bit is set."""
    word = bits[row, column >> 6] >> np.uint64(column & 63)
    return bool(word & np.uint64(1))


@jit
def eliminate(bits: Words, columns: int, repairs: int, order: Ints) -> bool:
    """Solve for the unknown sources by Gaussian elimination over GF(2); say whether all are determined.

    The unknown repair symbols are the first `repairs` columns: they are cleared from the rows below only. Each has a
    pivot, since the staircase makes the repair columns of H independent. The sources after them need a pivot each and
    are cleared from all later rows. Words beyond the `columns` go along with the row operations. On success
    ``bits[order[j]]`` is the row of the j-th unknown source.
    """
    rows = np.arange(bits.shape[0])
    for column in range(columns):  # the row of its pivot comes to this place
        pivot = column
        while pivot < rows.size and not bit(bits, rows[pivot], column):
            pivot += 1
        if pivot >= rows.size:
            return False
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column]
        for other in range(repairs if column >= repairs else column + 1, rows.size):
            row = rows[other]
            if other != column and bit(bits, row, column):
                for word in range(bits.shape[1]):
                    bits[row, word] ^= bits[lead, word]
    for j in range(columns - repairs):
        order[j] = rows[repairs + j]
    return True


@jit
def determined(h: CheckMatrix, k: int, held: Flags, elimination: bool) -> bool:
    """Say whether the symbols in `held` determine all sources, by peeling or with Gaussian elimination after it."""
    known = held.copy()
    peel(h, k, known, np.empty((known.size, 2), dtype=np.int32))
    if np.all(known[:k]):
        return True
    if not elimination:
        return False
    _, unknown, bits, repairs = residual(h, k, known, 0)
    order = np.empty(unknown.size, dtype=np.int32)
    solved: bool = eliminate(bits, unknown.size, repairs, order)
    return solved


@jit
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


@jit
def insert(basis: Words, held: Flags, row: Words, columns: int) -> int:
    """Bring an equation into a basis in echelon form; return its first column there, or -1 when it says nothing new.

    Row c of `basis`, valid where `held`, has its first one in column c. `row` is destroyed.
    """
    for column in range(columns):
        if row[column >> 6] >> np.uint64(column & 63) & np.uint64(1):
            if not held[column]:
                basis[column] = row
                held[column] = True
                return column
            for word in range(column >> 6, row.size):
                row[word] ^= basis[column, word]
    return -1
