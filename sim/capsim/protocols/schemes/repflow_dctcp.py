"""RepFlow-DCTCP: a short flow is sent on two DCTCP connections with different hashes; the first to finish counts.

The slower copy runs to its end; ``sharing={"abort_losers": True}`` stops it, which the paper leaves open.
"""

from dataclasses import replace

from capsim.protocols.schemes import dctcp
from capsim.protocols.sharing.replicated import REPLICATED

SCHEME = replace(
    dctcp.SCHEME,
    name="repflow_dctcp",
    summary="RepFlow with DCTCP",
    short=replace(dctcp.STACK, sharing=REPLICATED),
    cite="repflow",
)
