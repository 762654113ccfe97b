"""Row operations over GF(2^8), compiled: what the rank-aware and the progressive decoders are made of.

==================  ======  ==================  ===========  ================================================
Quantity            Symbol  Name                Unit         Meaning
==================  ======  ==================  ===========  ================================================
scaled row                  `scale`                          row := f row
row operation               `add_scaled`                     target := target + f source
innovative packet           `absorb`            packet       whether a packet's coefficients raise the rank
reduction                       `reduce_row`        row          a new row, cleared of the columns of the others
elimination                     `clear_column`      row          the others, cleared of a new row's column
==================  ======  ==================  ===========  ================================================

Each kernel takes the 256 x 256 table of products (`gf256.MUL`) as an argument: a factor f picks the row of 256
products with f, and the loop over bytes looks up one product for each.
"""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.codec.errors import Packets
from capsmodel.codec.gf256 import INV, MUL

_PRODUCTS = 1 << 29  # added in a tenth of a second
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


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
    part = max(1, _PRODUCTS // max(1, echelon.size))
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
