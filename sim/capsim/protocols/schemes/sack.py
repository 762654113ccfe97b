"""ECMP with selective acknowledgement (RFC 6675) in place of NewReno's recovery."""

from dataclasses import replace

from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.sack import SACK

STACK = replace(ecmp.STACK, transport=SACK)
SCHEME = replace(ecmp.SCHEME, name="sack", summary="ECMP with SACK recovery", short=STACK, long=STACK, cite="RFC 6675")
