"""Labels: the path that a packet is to take, as one number (``packet.label``; NONE if it has none).

Each switch with a choice takes its digit off: ``label % count`` is the candidate, ``label // count`` is left for the
next tier. So the labels 0 .. n-1 name the n shortest paths of a tree once each, and a larger one is taken modulo n.
"""

from typing import Any

from capsim.base.inlined import inlined


@inlined
def next_digit(packet: Any, count: int) -> int:
    """Return the candidate, of `count`, that the label of a packet names here, and take it off the label.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> packet = SimpleNamespace(label=7)
    >>> [next_digit(packet, count) for count in (4, 2)]
    [3, 1]
    """
    digit = packet.label % count
    packet.label //= count
    return int(digit)
