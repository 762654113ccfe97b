"""DCTCP over ECMP with selective acknowledgement (RFC 6675) in place of NewReno's recovery."""

from dataclasses import replace

from capsim.protocols.schemes import dctcp
from capsim.protocols.transports.dctcp import DCTCP_SACK

SCHEME = replace(
    dctcp.SCHEME, name="dctcp_sack", summary="DCTCP with SACK recovery", transport=DCTCP_SACK, cite="RFC 8257"
)
