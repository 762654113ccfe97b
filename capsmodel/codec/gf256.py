"""Arithmetic of GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 on arrays of bytes.

================  ===========  ==============  ====  ==================================================
Quantity          Symbol       Name            Unit  Meaning
================  ===========  ==============  ====  ==================================================
field polynomial               ``POLYNOMIAL``        0x11d, with the generator alpha = 2 (RFC 5510)
power             alpha^i      ``EXP``               i = 0 .. 509, doubled so that sums of two logs fit
logarithm         log_alpha a  ``LOG``               ``LOG[0]`` is 0 and means nothing
inverse           1/a          ``INV``               ``INV[0]`` is 0 and means nothing
product           a b          ``MUL``               256 x 256 table
================  ===========  ==============  ====  ==================================================

A byte is the polynomial whose coefficient of x^i is bit i. Addition and subtraction are XOR.
"""

import numpy as np
import numpy.typing as npt

from capsmodel.codec.inputs import Packets

POLYNOMIAL = 0x11D


def _powers() -> list[int]:
    powers = [1]
    while len(powers) < 255:
        doubled = powers[-1] << 1
        powers.append(doubled ^ POLYNOMIAL if doubled > 0xFF else doubled)
    return powers


def _constant(values: npt.ArrayLike) -> Packets:
    table = np.array(values, np.uint8)
    table.setflags(write=False)
    return table


def _logs() -> Packets:
    logs = np.zeros(256, np.uint8)
    logs[EXP[:255]] = np.arange(255)
    return logs


def _products() -> Packets:
    logs = LOG.astype(np.int64)
    table: Packets = EXP[logs[:, None] + logs]
    table[0] = table[:, 0] = 0
    return table


EXP = _constant(_powers() * 2)
LOG = _constant(_logs())
INV = _constant(np.where(np.arange(256) == 0, 0, EXP[255 - LOG.astype(np.int64)]))
MUL = _constant(_products())


def mul(a: npt.ArrayLike, b: npt.ArrayLike) -> Packets:
    """Return the products a b in GF(2^8).

    Parameters
    ----------
    a, b : array of uint8
        Field elements; the shapes broadcast.

    Returns
    -------
    array of uint8
        Products, of the broadcast shape.

    Examples
    --------
    >>> int(mul(2, 128)), int(mul(83, 202))
    (29, 143)
    """
    products: Packets = MUL[np.asarray(a, np.uint8), np.asarray(b, np.uint8)]
    return products


def inv(a: npt.ArrayLike) -> Packets:
    """Return the inverses 1/a in GF(2^8).

    Parameters
    ----------
    a : array of uint8
        Field elements other than 0.

    Returns
    -------
    array of uint8
        Inverses, of the shape of `a`.

    Raises
    ------
    ZeroDivisionError
        When an element is 0.

    Examples
    --------
    >>> int(inv(2))
    142
    """
    elements = np.asarray(a, np.uint8)
    if not np.all(elements):
        raise ZeroDivisionError("0 has no inverse in GF(2^8)")
    inverses: Packets = INV[elements]
    return inverses
