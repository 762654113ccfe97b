"""Kernel in plain NumPy, by the table of products: for debuggers and coverage tools, where nothing is compiled."""

import numpy as np
import numpy.typing as npt

from capsmodel.codec.errors import Packets
from capsmodel.codec.gf256 import MUL


def prepare(coefficients: Packets) -> npt.NDArray[np.uint64]:
    """Return the coefficients themselves, shape (rows, m, 1)."""
    return coefficients[:, :, None].astype(np.uint64)


def tables(factors: npt.NDArray[np.uint64], packets: Packets, out: Packets, targets: npt.NDArray[np.int64]) -> None:
    """Write combination i of ``packets[u]`` to ``out[u, targets[i]]`` for each unit u: one look-up for each product."""
    for target, row in zip(targets, factors[:, :, 0], strict=True):
        out[:, target] = np.bitwise_xor.reduce(MUL[row[:, None], packets], axis=1)
