"""Random packet spraying over switches that trim: a header tells the receiver, and it the sender, what is missing.

The transport is that of ``rack``, which takes a segment for lost when the receiver says that only its header came.
Receivers give no credit as in NDP (Handley et al. 2017): windows open and close as TCP's, once for all that is trimmed
of a window. Late packets are taken for lost now and then, as with :mod:`~capsim.protocols.schemes.rack_rps`.
"""

from dataclasses import replace

from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.protocols.schemes import rack_rps

SCHEME = replace(
    rack_rps.SCHEME,
    name="rps_trim",
    summary="each packet takes a random path, full ports send its header on",
    queue=TRIM_QUEUE,
    cite="Handley et al. 2017; RFC 8985",
)
