"""ECMP with losses found by time (RACK-TLP, RFC 8985) in place of duplicate acknowledgements."""

from dataclasses import replace

from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.rack import RACK

STACK = replace(ecmp.STACK, transport=RACK)
SCHEME = replace(
    ecmp.SCHEME, name="rack", summary="ECMP, losses found by time", short=STACK, long=STACK, cite="RFC 8985"
)
