"""DCTCP over random packet spraying; its recovery takes reordering for loss, as with ``rps``."""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.schemes import dctcp

SCHEME = replace(dctcp.SCHEME, name="dctcp_rps", summary="DCTCP, each packet on a random path", balancer=RPS)
