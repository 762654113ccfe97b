"""Fixed linear combinations of packets over GF(2^8), prepared once and applied to many coding units."""

import numpy as np

from capsmodel.codec import kernels
from capsmodel.codec.base import CodecError, Packets, described


class Combiner:
    """The linear map with a given matrix, from m packets to as many combinations as the matrix has rows.

    Parameters
    ----------
    coefficients : array of uint8, shape (rows, m)
        One row of coefficients for each combination.
    kernel : Kernel, optional
        How to compute; the fastest that this processor can run by default.

    Examples
    --------
    >>> both = Combiner(np.array([[1, 1], [1, 2]], np.uint8))
    >>> both(np.array([[5, 6], [1, 128]], np.uint8)).tolist()
    [[4, 134], [7, 27]]
    """

    def __init__(self, coefficients: Packets, *, kernel: kernels.Kernel | None = None) -> None:
        if getattr(coefficients, "dtype", None) != np.uint8 or coefficients.ndim != 2:
            raise CodecError(
                f"the coefficients are {described(coefficients)}, but uint8 of shape (rows, m) is expected"
            )
        chosen = kernel or kernels.fastest()
        self._rows, self._m = coefficients.shape
        self.least_bytes = chosen.least_bytes
        self._factors = np.ascontiguousarray(chosen.prepare(coefficients))
        self._run = chosen.run

    def __call__(self, packets: Packets, out: Packets | None = None) -> Packets:
        """Return the combinations, shape (rows, bytes), of packets of shape (m, bytes).

        Parameters
        ----------
        packets : array of uint8, shape (m, bytes)
            Packets; rows may lie anywhere, but a copy is made when the bytes of a row are not contiguous.
        out : array of uint8, shape (rows, bytes), optional
            Where to put the result; it must not share memory with `packets`.

        Raises
        ------
        CodecError
            When a type or shape is wrong, or `out` cannot take the result.
        """
        # The kernels trust addresses and shapes, so every call is checked.
        if getattr(packets, "dtype", None) != np.uint8 or packets.ndim != 2 or packets.shape[0] != self._m:
            raise CodecError(f"the packets are {described(packets)}, but uint8 of shape ({self._m}, bytes) is expected")
        packet_bytes = packets.shape[1]
        if out is None:
            out = np.empty((self._rows, packet_bytes), np.uint8)
        else:
            self._check_out(out, packets)
        if packet_bytes < self.least_bytes:
            out[:] = self(_widened(packets, self.least_bytes))[:, :packet_bytes]
            return out
        if packets.strides[1] != 1:
            packets = np.ascontiguousarray(packets)
        self._run(self._factors, packets, out)
        return out

    def _check_out(self, out: Packets, packets: Packets) -> None:
        shape = (self._rows, packets.shape[1])
        if getattr(out, "dtype", None) != np.uint8 or out.shape != shape:
            raise CodecError(f"the output is {described(out)}, but uint8 of shape {shape} is expected")
        if not out.flags.writeable or (out.strides[1] != 1 and out.shape[1] > 1):
            raise CodecError("the output must be writeable, with the bytes of each row contiguous")
        if np.may_share_memory(out, packets):
            raise CodecError("the output shares memory with the packets: give another array")


def _widened(packets: Packets, width: int) -> Packets:
    wide = np.zeros((len(packets), width), np.uint8)
    wide[:, : packets.shape[1]] = packets
    return wide


def combine(coefficients: Packets, packets: Packets, out: Packets | None = None) -> Packets:
    """Return linear combinations of packets over GF(2^8): the matrix product coefficients . packets.

    Parameters
    ----------
    coefficients : array of uint8, shape (rows, m)
        One row of coefficients for each combination wanted.
    packets : array of uint8, shape (m, bytes)
        Packets.
    out : array of uint8, shape (rows, bytes), optional
        Where to put the result; it must not overlap `packets`.

    Returns
    -------
    array of uint8, shape (rows, bytes)
        Combination i is the sum over j of ``coefficients[i, j] * packets[j]``; `out` when that is given.

    Examples
    --------
    >>> combine(np.array([[1, 2]], np.uint8), np.array([[5, 6], [1, 128]], np.uint8)).tolist()
    [[7, 27]]
    """
    return Combiner(coefficients)(packets, out)
