"""RepFlow: a short flow is sent twice, on two connections with different hashes; the first to finish counts.

The slower copy runs to its end, as in the authors' implementation; ``sharing={"abort_losers": True}`` stops it.
"""

from dataclasses import replace

from capsim.protocols.schemes import ecmp
from capsim.protocols.sharing.replicated import REPLICATED

SCHEME = replace(
    ecmp.SCHEME,
    name="repflow",
    summary="each short flow on two hashed paths",
    short=replace(ecmp.STACK, sharing=REPLICATED),
    cite="repflow",
)
