"""Linear algebra over GF(2^8) for the small matrices of erasure codes: rank, inverse, solution.

========  ======  ===========  ====  ==========================================
Quantity  Symbol  Name         Unit  Meaning
========  ======  ===========  ====  ==========================================
rank              ``rank``           packets that a set of coded packets is worth
inverse   A^-1    ``inverse``        of a square matrix, by Gauss-Jordan
========  ======  ===========  ====  ==========================================
"""

import numpy as np

from capsmodel.codec.base import CodecError, Packets
from capsmodel.codec.gf256 import INV, MUL


def _reduce(matrix: Packets, columns: int) -> int:
    """Bring `matrix` to reduced row echelon form over its first `columns` columns, in place; return the rank."""
    rank = 0
    for column in range(columns):
        pivots = np.flatnonzero(matrix[rank:, column])
        if pivots.size == 0:
            continue
        pivot = rank + int(pivots[0])
        matrix[[rank, pivot]] = matrix[[pivot, rank]]
        matrix[rank] = MUL[INV[matrix[rank, column]], matrix[rank]]
        factors = matrix[:, column].copy()
        factors[rank] = 0
        matrix ^= MUL[factors[:, None], matrix[rank]]
        rank += 1
        if rank == len(matrix):
            break
    return rank


def rank(matrix: Packets) -> int:
    """Return the rank over GF(2^8) of a uint8 matrix, shape (rows, columns).

    Examples
    --------
    >>> rank(np.array([[1, 2], [2, 4]], np.uint8))
    1
    """
    return _reduce(matrix.copy(), matrix.shape[1])


def inverse(matrix: Packets) -> Packets:
    """Return the inverse over GF(2^8) of a uint8 matrix, shape (size, size).

    Raises
    ------
    CodecError
        When the matrix is not square or is singular; the text gives the rank.

    Examples
    --------
    >>> inverse(np.array([[0, 1], [2, 0]], np.uint8)).tolist()
    [[0, 142], [1, 0]]
    """
    size = len(matrix)
    if matrix.shape != (size, size):
        raise CodecError(f"a matrix of shape {matrix.shape} has no inverse: it must be square")
    both = np.hstack([matrix, np.eye(size, dtype=np.uint8)])
    found = _reduce(both, size)
    if found < size:
        raise CodecError(f"the matrix of size {size} has rank {found}: it is singular")
    return both[:, size:].copy()
