"""How LDPC codes decode: peeling, elimination over GF(2), and the sums of packets that give the lost ones."""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.codec.inputs import Flags
from capsmodel.codec.ldpc_matrix import CheckMatrix, Indices

Words = npt.NDArray[np.uint64]


@jit
def peel(h: CheckMatrix, k: int, known: Flags, steps: Indices) -> int:
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
def residual(h: CheckMatrix, k: int, known: Flags, extra: int) -> tuple[Indices, Indices, Words, int]:
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
def eliminate(bits: Words, columns: int, repairs: int, order: Indices) -> bool:
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


@jit
def schedule(h: CheckMatrix, k: int, held: Flags) -> tuple[Indices, Indices, Indices, Flags]:
    """Return the XORs that give the lost sources: targets, start and operands of each, and which sources they give.

    XOR t sets ``targets[t]`` to the sum of ``operands[start[t]:start[t + 1]]``; they are carried out in turn. Numbers
    below n are symbols; n + i is the sum of the known symbols of a row. Those that no lost source needs are left out.
    """
    n = held.size
    known = held.copy()
    steps = np.empty((n, 2), dtype=np.int32)
    n_steps = peel(h, k, known, steps)
    rows, unknown, bits, order = _solved(h, k, known)
    total = n_steps + rows.size + unknown.size
    targets = np.empty(total, dtype=np.int32)
    start = np.zeros(total + 1, dtype=np.int32)
    operands = np.empty(2 * h.row_symbols.size + unknown.size * rows.size, dtype=np.int32)
    size = 0
    for t in range(n_steps):
        targets[t] = steps[t, 1]
        start[t + 1] = size = _other_symbols(h, steps[t, 0], steps[t, 1], operands, size)
    for i in range(rows.size):
        targets[n_steps + i] = n + i
        start[n_steps + i + 1] = size = _known_symbols(h, rows[i], known, operands, size)
    for j in range(unknown.size):
        t = n_steps + rows.size + j
        targets[t] = unknown[j]
        start[t + 1] = size = _added_rows(bits, order[j], rows.size, n, operands, size)
        known[unknown[j]] = True
    targets, start, operands = _only(_needed(k, n, targets, start, operands), targets, start, operands)
    return targets, start, operands, known[:k]


@jit
def _solved(h: CheckMatrix, k: int, known: Flags) -> tuple[Indices, Indices, Words, Indices]:
    """Return rows of H, unknown sources, and for each the row of the bits that says which rows of H add up to it.

    The bits are those behind the unknown symbols; all is empty when peeling left nothing or not all is determined.
    """
    rows, unknown, bits, repairs = residual(h, k, known, 1)
    order = np.empty(unknown.size, dtype=np.int32)
    if np.all(known[:k]) or not eliminate(bits, unknown.size, repairs, order):
        rows, unknown, repairs = rows[:0], unknown[:0], 0
    words = bits[:, (order.size + 63) // 64 :].copy()
    return rows, unknown[repairs:], words, order


@jit
def _added_rows(bits: Words, row: int, rows: int, first: int, operands: Indices, size: int) -> int:
    """Append ``first + i`` for each row i of H that the bits name; return the new size."""
    for i in range(rows):
        if bit(bits, row, i):
            operands[size] = first + i
            size += 1
    return size


@jit
def _other_symbols(h: CheckMatrix, row: int, symbol: int, operands: Indices, size: int) -> int:
    """Append the symbols of a row but one; return the new size."""
    for other in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
        if other != symbol:
            operands[size] = other
            size += 1
    return size


@jit
def _known_symbols(h: CheckMatrix, row: int, known: Flags, operands: Indices, size: int) -> int:
    """Append the known symbols of a row; return the new size."""
    for other in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
        if known[other]:
            operands[size] = other
            size += 1
    return size


@jit
def _needed(k: int, n: int, targets: Indices, start: Indices, operands: Indices) -> Flags:
    """Say which XORs a source depends on, from the last to the first."""
    kept = np.zeros(targets.size, dtype=np.bool_)
    wanted = np.zeros(n + targets.size, dtype=np.bool_)
    for t in range(targets.size - 1, -1, -1):
        if targets[t] < k or wanted[targets[t]]:
            kept[t] = True
            for operand in operands[start[t] : start[t + 1]]:
                wanted[operand] = True
    return kept


@jit
def _only(kept: Flags, targets: Indices, start: Indices, operands: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the XORs that are kept."""
    count = 0
    size = 0
    for t in range(targets.size):
        if kept[t]:
            targets[count] = targets[t]
            for i in range(start[t], start[t + 1]):
                operands[size] = operands[i]
                size += 1
            count += 1
            start[count] = size
    return targets[:count].copy(), start[: count + 1].copy(), operands[:size].copy()


@jit
def located(n: int, k: int, numbers: npt.NDArray[np.int64], targets: Indices, operands: Indices) -> tuple[Indices, int]:
    """Give each number in a schedule that is no source its row of a work array, k + row, in place.

    Returns where the repair packets that are used lie among those received, in the order of the first rows, and the
    number of rows. The rows of computed packets follow.
    """
    place = np.full(2 * n - k, -1)  # n symbols, then the sums of the n - k rows
    for i in range(numbers.size):
        place[numbers[i]] = i
    row = np.full(place.size, -1)
    used = np.empty(numbers.size, dtype=np.int32)
    rows = 0
    for operand in operands:
        if k <= operand < n and place[operand] >= 0 and row[operand] < 0:
            row[operand] = rows
            used[rows] = place[operand]
            rows += 1
    n_used = rows
    for target in targets:
        if target >= k and row[target] < 0:
            row[target] = rows
            rows += 1
    for some in (targets, operands):
        for i in range(some.size):
            if some[i] >= k:
                some[i] = k + row[some[i]]
    return used[:n_used].copy(), rows
