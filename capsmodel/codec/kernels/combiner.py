"""Fixed linear combinations of packets over GF(2^8), prepared once and applied to many coding units."""

import numpy as np

from capsmodel._compilation import entry_point
from capsmodel.codec import kernels
from capsmodel.codec.inputs import CodecError, Ints, Packets, check_output, described, is_packets

_PRODUCTS = 1 << 33  # summed in a tenth of a second, or in a second where only the portable kernel runs


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
        if not is_packets(coefficients) or coefficients.ndim != 2:
            raise CodecError(
                f"the coefficients are {described(coefficients)}, but uint8 of shape (rows, m) is expected"
            )
        chosen = kernel or kernels.fastest()
        self._coefficients = coefficients
        self._rows, self._m = coefficients.shape
        self._in_order: Ints = np.arange(self._rows)
        self.least_bytes = chosen.least_bytes
        self._factors = np.ascontiguousarray(chosen.prepare(coefficients))
        self._run = entry_point(chosen.run)
        self._bytes_at_once = _PRODUCTS // max(1, self._rows)

    def __reduce__(self) -> tuple[type["Combiner"], tuple[Packets]]:
        return Combiner, (self._coefficients,)  # machine code stays here: another processor takes a kernel of its own

    def __call__(self, packets: Packets, out: Packets | None = None) -> Packets:
        """Return the combinations, shape (rows, bytes), of packets of shape (m, bytes).

        Parameters
        ----------
        packets : array of uint8, shape (m, bytes) or (units, m, bytes)
            Packets; rows may lie anywhere, but a copy is made when the bytes of a row are not contiguous.
        out : array of uint8, shape (rows, bytes) or (units, rows, bytes), optional
            Where to put the result; it must not share memory with `packets`.

        Raises
        ------
        CodecError
            When a type or shape is wrong, or `out` cannot take the result.
        """
        # The kernels trust addresses and shapes, so every call is checked.
        if not is_packets(packets) or packets.ndim not in (2, 3) or packets.shape[-2] != self._m:
            raise CodecError(f"the packets are {described(packets)}, but uint8 of shape ({self._m}, bytes) is expected")
        out = check_output(out, (*packets.shape[:-2], self._rows, packets.shape[-1]), packets)
        if packets.strides[-1] != 1:
            packets = np.ascontiguousarray(packets)
        self.write(packets, out)
        return out

    def write(self, packets: Packets, out: Packets, targets: Ints | None = None) -> None:
        """Write combination i of the packets of a unit to row ``targets[i]`` of `out`; nothing is checked.

        Parameters
        ----------
        packets : array of uint8, shape (m, bytes) or (units, m, bytes)
            Packets of one unit or of several, the bytes of each contiguous.
        out : array of uint8, shape (., bytes) or (units, ., bytes)
            Where to put the results; shares no memory with `packets`.
        targets : array of int64, shape (rows,), optional
            Row of `out` for each combination; 0, 1, 2, ... by default.
        """
        if targets is None:
            targets = self._in_order
        if packets.nbytes <= self._bytes_at_once:
            if packets.shape[-1] >= self.least_bytes:  # nearly always
                self._run(self._factors, packets, out, targets)
            else:
                self._write_part(packets, out, targets)
            return
        if packets.ndim == 2:
            packets, out = packets[None], out[None]
        units, _, packet_bytes = packets.shape
        unit_bytes = packets.nbytes // units
        units_part = max(1, self._bytes_at_once // unit_bytes)
        bytes_part = max(1, self.least_bytes, self._bytes_at_once * packet_bytes // unit_bytes)
        for unit in range(0, units, units_part):
            for byte in range(0, packet_bytes, bytes_part):  # Python hears of Ctrl-C between two parts
                part = np.s_[unit : unit + units_part, :, byte : byte + bytes_part]
                self._write_part(packets[part], out[part], targets)

    def _write_part(self, packets: Packets, out: Packets, targets: Ints) -> None:
        """Do in one call what `write` may do in several."""
        *units, m, packet_bytes = packets.shape
        if packet_bytes >= self.least_bytes:
            self._run(self._factors, packets, out, targets)
            return
        wide = np.zeros((*units, m, self.least_bytes), np.uint8)
        wide[..., :packet_bytes] = packets
        result = np.empty((*units, self._rows, self.least_bytes), np.uint8)
        self._run(self._factors, wide, result, self._in_order)
        out[..., targets, :] = result[..., :packet_bytes]


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
