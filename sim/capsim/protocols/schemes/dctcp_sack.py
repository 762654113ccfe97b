"""DCTCP over ECMP with selective acknowledgement (RFC 6675) in place of NewReno's recovery."""

from dataclasses import replace

from capsim.protocols.schemes import dctcp
from capsim.protocols.transports.sack import SACK

STACK = replace(dctcp.STACK, transport=replace(SACK, params=replace(SACK.params, ecn=True)))
SCHEME = replace(dctcp.SCHEME, name="dctcp_sack", summary="DCTCP with SACK recovery", short=STACK, long=STACK)
