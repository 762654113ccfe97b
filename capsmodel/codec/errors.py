"""What goes wrong with packets, and what a set of packets is: the words that all modules of the codec share."""

import numpy as np
import numpy.typing as npt

Packets = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class CodecError(ValueError):
    """Packets cannot be encoded or decoded; the text says which and why."""


class PacketError(CodecError):
    """A packet is malformed: wrong length, wrong number, or in conflict with one that was received before."""


class NotEnoughPackets(CodecError):
    """The packets received do not determine the source.

    Attributes
    ----------
    missing : int
        How many more packets are needed at least.
    """

    def __init__(self, missing: int, *, received: int, k: int) -> None:
        self.missing = missing
        word = "packet is" if missing == 1 else "packets are"
        super().__init__(f"{received} packets received for k = {k}: at least {missing} more {word} needed")
