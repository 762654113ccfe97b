"""Packet scatter (PS of mmptcp): a random source port for each packet, so that ECMP spreads a flow over all paths.

The threshold of duplicate acknowledgements is 3 plus the number of paths. Limited transmit is off, as in the paper:
``transport={"limited_transmit": True}`` switches it on.
"""

from dataclasses import replace

from capsim.protocols.marking.scatter import SCATTER
from capsim.protocols.schemes import ecmp
from capsim.protocols.sharing.scattered import SCATTERED
from capsim.protocols.transports.newreno import NEWRENO
from capsim.protocols.transports.tcp import TcpParams

TRANSPORT = replace(NEWRENO, params=TcpParams(limited_transmit=False))
STACK = replace(ecmp.STACK, transport=TRANSPORT, sharing=SCATTERED, marking=SCATTER)
SCHEME = replace(ecmp.SCHEME, name="ps", summary="each packet on a random path", short=STACK, long=STACK, cite="mmptcp")
