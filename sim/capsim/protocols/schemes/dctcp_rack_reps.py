"""DCTCP that sprays by entropies: what comes back unmarked is taken again (REPS), losses are found by time (RACK).

What RACK takes for lost although it is late halves the window for nothing: see
:mod:`~capsim.protocols.schemes.rack_rps`.
"""

from dataclasses import replace

from capsim.protocols.marking.entropy import ENTROPY
from capsim.protocols.schemes import dctcp
from capsim.protocols.transports.rack import RACK

TRANSPORT = replace(RACK, params=replace(RACK.params, ecn=True))
STACK = replace(dctcp.STACK, transport=TRANSPORT, marking=ENTROPY)
SCHEME = replace(
    dctcp.SCHEME,
    name="dctcp_rack_reps",
    summary="DCTCP, losses by time, entropies without marks taken again",
    short=STACK,
    long=STACK,
    cite="RFC 8257, RFC 8985, arXiv:2407.21625",
)
