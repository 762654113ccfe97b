"""The decoding matrix of DC2-MTCP's receiver: linear combinations of data segments over GF(2^8), one for each flow.

A combination is kept with what it mixes until all of that is known. After each packet those that wait are reduced
(Gauss-Jordan) in the columns that are not known; a row with one entry left determines a data segment. The paper's
preemptive algorithm reduces row by row as packets come and finds the same; it differs in the work, which is not
simulated.

The coefficients are those of a real code, drawn by a hash of the combination and the data segment, uniform on 1 to 255.
So a run that counts packets decodes what one with bytes does, and combinations that depend on each other decode
nothing.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, mix
from capsim.protocols.layers.stream import has
from capsim.records import NONE

MOST_MIXED = 15  # C_max (dc2mtcp IV-A)
ROWS = 8  # combinations that wait; a further one takes the place of the oldest
COLUMNS = ROWS * MOST_MIXED
POLYNOMIAL = 0x11D  # of the field (RFC 5510)

OPTION = (("number", "i4"), ("mixed", "i4"), ("members", f"({MOST_MIXED},)i4"))
MATRIX = (
    ("rows", "i4"),
    ("numbers", f"({ROWS},)i4"),
    ("lengths", f"({ROWS},)i4"),
    ("row_members", f"({COLUMNS},)i4"),
    ("columns", f"({COLUMNS},)i4"),  # data segments not known
    ("matrix", f"({ROWS * COLUMNS},)u1"),
)


@inlined
def times(a: int, b: int) -> int:
    """Return the product of two elements of GF(2^8)."""
    product, factor, rest = 0, a & 255, b & 255
    while rest:
        if rest & 1:
            product ^= factor
        factor <<= 1
        if factor & 256:
            factor ^= POLYNOMIAL
        rest >>= 1
    return product


@inlined
def inverse(a: int) -> int:
    """Return 1 / a = a^254."""
    result, square = 1, a & 255
    for _ in range(7):
        square = times(square, square)
        result = times(result, square)
    return result


@inlined
def coefficient(number: int, segment: int) -> int:
    """Return the coefficient that a data segment has in combination `number` of its flow."""
    return int(1 + mix((mix(number & MASK) ^ segment) & MASK) % 255)


@inlined
def drop_row(memory: Any, row: int) -> None:
    """Take a combination out of the matrix."""
    memory.rows -= 1
    for index in range(row, memory.rows):
        memory.numbers[index] = memory.numbers[index + 1]
        memory.lengths[index] = memory.lengths[index + 1]
        for place in range(index * MOST_MIXED, (index + 1) * MOST_MIXED):
            memory.row_members[place] = memory.row_members[place + MOST_MIXED]


@inlined
def take_combination(memory: Any, option: Any) -> None:
    """Enter a combination that has come."""
    if memory.rows == ROWS:
        drop_row(memory, 0)
    row = memory.rows
    memory.numbers[row] = option.number
    memory.lengths[row] = option.mixed
    for index in range(option.mixed):
        memory.row_members[row * MOST_MIXED + index] = option.members[index]
    memory.rows += 1


@inlined
def is_mixed(memory: Any, segment: int) -> bool:
    """Return whether a data segment is in one of the combinations: only then can its arrival determine others."""
    for row in range(memory.rows):
        for place in range(row * MOST_MIXED, row * MOST_MIXED + memory.lengths[row]):
            if memory.row_members[place] == segment:
                return True
    return False


@inlined
def column_of(memory: Any, columns: int, segment: int) -> int:
    """Return the column of a data segment, `columns` if it has none yet."""
    column = 0
    while column < columns and memory.columns[column] != segment:
        column += 1
    return column


@inlined
def fill_matrix(memory: Any, flow: Any, data: Any) -> int:
    """Write the coefficients of what is not known; return the number of columns."""
    columns = 0
    for place in range(memory.rows * COLUMNS):
        memory.matrix[place] = 0
    for row in range(memory.rows):
        for index in range(memory.lengths[row]):
            segment = memory.row_members[row * MOST_MIXED + index]
            if not has(flow, data, segment):
                column = column_of(memory, columns, segment)
                if column == columns:
                    memory.columns[column] = segment
                    columns += 1
                memory.matrix[row * COLUMNS + column] = coefficient(memory.numbers[row], segment)
    return columns


@inlined
def entries(memory: Any, row: int, columns: int) -> int:
    """Return how many columns of a row are not 0."""
    count = 0
    for column in range(columns):
        count += memory.matrix[row * COLUMNS + column] != 0
    return count


@inlined
def first_entry(memory: Any, row: int, columns: int) -> int:
    """Return the first column of a row that is not 0, `columns` if all are."""
    column = 0
    while column < columns and memory.matrix[row * COLUMNS + column] == 0:
        column += 1
    return column


@inlined
def eliminate(memory: Any, columns: int) -> None:
    """Bring the matrix into reduced form; the order of the rows stays."""
    for row in range(memory.rows):
        pivot = first_entry(memory, row, columns)
        if pivot < columns:
            scale = inverse(memory.matrix[row * COLUMNS + pivot])
            for column in range(pivot, columns):
                place = row * COLUMNS + column
                memory.matrix[place] = times(scale, memory.matrix[place])
            for other in range(memory.rows):
                factor = memory.matrix[other * COLUMNS + pivot] & 255
                if other != row and factor:
                    for column in range(pivot, columns):
                        place = other * COLUMNS + column
                        memory.matrix[place] ^= times(factor, memory.matrix[row * COLUMNS + column])


@inlined
def determined(memory: Any, flow: Any, data: Any) -> int:
    """Return a data segment that the combinations determine and the receive buffer has room for, or NONE.

    Combinations that say nothing beyond what is known are dropped.
    """
    if memory.rows == 0:
        return NONE
    columns, least = fill_matrix(memory, flow, data), NONE
    eliminate(memory, columns)
    row = memory.rows
    while row > 0:
        row -= 1
        left = entries(memory, row, columns)
        if left == 0:
            drop_row(memory, row)
        elif left == 1:
            segment = memory.columns[first_entry(memory, row, columns)]
            if segment < flow.data_next + flow.buffer_segments and (least == NONE or segment < least):
                least = segment
    return least
