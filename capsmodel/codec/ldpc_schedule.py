"""The XORs of packets that decode a reception of LDPC-Staircase, worked out once for a pattern of loss.

==========================  ======  ================  ======  ===============================================
Quantity                    Symbol  Name              Unit    Meaning
==========================  ======  ================  ======  ===============================================
XORs that decode                    `schedule`                target, operands, in the order to carry out
place of each operand               `located`                 row of a work array
==========================  ======  ================  ======  ===============================================
"""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.codec.errors import Flags
from capsmodel.codec.ldpc_decoding import Words, bit, eliminate, peel, residual
from capsmodel.codec.ldpc_matrix import CheckMatrix, Ints


@jit
def schedule(h: CheckMatrix, k: int, held: Flags) -> tuple[Ints, Ints, Ints, Flags]:
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
def _solved(h: CheckMatrix, k: int, known: Flags) -> tuple[Ints, Ints, Words, Ints]:
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
def _added_rows(bits: Words, row: int, rows: int, first: int, operands: Ints, size: int) -> int:
    """Append ``first + i`` for each row i of H that the bits name; return the new size."""
    for i in range(rows):
        if bit(bits, row, i):
            operands[size] = first + i
            size += 1
    return size


@jit
def _other_symbols(h: CheckMatrix, row: int, symbol: int, operands: Ints, size: int) -> int:
    """Append the symbols of a row but one; return the new size."""
    for other in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
        if other != symbol:
            operands[size] = other
            size += 1
    return size


@jit
def _known_symbols(h: CheckMatrix, row: int, known: Flags, operands: Ints, size: int) -> int:
    """Append the known symbols of a row; return the new size."""
    for other in h.row_symbols[h.row_start[row] : h.row_start[row + 1]]:
        if known[other]:
            operands[size] = other
            size += 1
    return size


@jit
def _needed(k: int, n: int, targets: Ints, start: Ints, operands: Ints) -> Flags:
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
def _only(kept: Flags, targets: Ints, start: Ints, operands: Ints) -> tuple[Ints, Ints, Ints]:
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
def located(n: int, k: int, numbers: npt.NDArray[np.int64], targets: Ints, operands: Ints) -> tuple[Ints, int]:
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
