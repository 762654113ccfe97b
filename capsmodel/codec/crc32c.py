r"""CRC-32C (Castagnoli), the checksum of a packet.

========  ======  ========  ====  ======================
Quantity  Symbol  Name      Unit  Equation
========  ======  ========  ====  ======================
checksum          `crc32c`  –     RFC 3720, section 12.1
========  ======  ========  ====  ======================

The generator polynomial is 0x1EDC6F41, 0x82F63B78 with its bits reflected. Eight tables let the loop take eight bytes
a step: ``_TABLES[t][b]`` is the remainder of byte b followed by t zero bytes. Every error burst of up to 32 bits is
found; any other damage passes with probability 2^-32.
"""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit

_REFLECTED = 0x82F63B78
_ALL_ONES = 0xFFFFFFFF


def _tables() -> npt.NDArray[np.int64]:
    first = np.arange(256, dtype=np.int64)
    for _ in range(8):
        first = (first >> 1) ^ (first & 1) * _REFLECTED
    tables = [first]
    for _ in range(7):
        tables.append((tables[-1] >> 8) ^ first[tables[-1] & 0xFF])
    return np.array(tables)


_TABLES = _tables()


@jit
def _update(crc: int, data: npt.NDArray[np.uint8], tables: npt.NDArray[np.int64]) -> int:
    """Carry the inverted remainder `crc` over `data`."""
    whole = data.size - data.size % 8
    for at in range(0, whole, 8):
        low = crc ^ np.int64(data[at]) ^ np.int64(data[at + 1]) << 8 ^ np.int64(data[at + 2]) << 16
        low ^= np.int64(data[at + 3]) << 24
        crc = (
            tables[7, low & 0xFF] ^ tables[6, (low >> 8) & 0xFF] ^ tables[5, (low >> 16) & 0xFF] ^ tables[4, low >> 24]
        )
        crc ^= tables[3, data[at + 4]] ^ tables[2, data[at + 5]] ^ tables[1, data[at + 6]] ^ tables[0, data[at + 7]]
    for at in range(whole, data.size):
        crc = tables[0, (crc ^ data[at]) & 0xFF] ^ (crc >> 8)
    return crc


def crc32c(data: bytes | memoryview, crc: int = 0) -> int:
    """CRC-32C of `data`, a whole number in [0, 2^32).

    Parameters
    ----------
    data : bytes-like
        Contiguous bytes.
    crc : int
        Checksum of what came before, to continue it; 0 to start.

    References
    ----------
    RFC 3720, section 12.1 and appendix B.4.

    Examples
    --------
    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    >>> crc32c(b"6789", crc32c(b"12345")) == crc32c(b"123456789")
    True
    """
    if not len(data):  # which np.frombuffer refuses
        return crc
    flat = np.frombuffer(data, np.uint8)
    flat.flags.writeable = False  # always: one compiled version
    return int(_update(crc ^ _ALL_ONES, flat, _TABLES)) ^ _ALL_ONES
