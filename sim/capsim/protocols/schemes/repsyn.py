"""RepSYN: the SYN alone is sent twice, on two connections with different hashes; the first to be answered carries on.

All flows do so, as RepNet, the authors' implementation, does by default. The connection that is closed sends nothing.
"""

from dataclasses import replace

from capsim.protocols.schemes import ecmp
from capsim.protocols.sharing.repeated_syn import REPEATED_SYN

NEWRENO = ecmp.STACK.transport
STACK = replace(
    ecmp.STACK, transport=replace(NEWRENO, params=replace(NEWRENO.params, handshake=True)), sharing=REPEATED_SYN
)
SCHEME = replace(
    ecmp.SCHEME, name="repsyn", summary="the path that answers first of two", short=STACK, long=STACK, cite="repflow"
)
