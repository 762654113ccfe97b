"""Datagrams at a constant rate over ECMP: background traffic, for an entry of its own beside those of other schemes."""

from dataclasses import replace

from capsim.protocols.congestion.none import NO_CONGESTION
from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.datagram import DATAGRAM

STACK = replace(ecmp.STACK, transport=DATAGRAM, congestion=NO_CONGESTION)
SCHEME = replace(
    ecmp.SCHEME, name="cbr", summary="datagrams at a constant rate (control)", short=STACK, long=STACK, cite="capsmodel"
)
