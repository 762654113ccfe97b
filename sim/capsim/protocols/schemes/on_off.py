"""Datagrams at a rate during ON periods of 10 ms, none during OFF periods of 10 ms, over ECMP."""

from dataclasses import replace

from capsim.protocols.schemes import cbr

DATAGRAM = cbr.STACK.transport
STACK = replace(cbr.STACK, transport=replace(DATAGRAM, params=replace(DATAGRAM.params, on_s=10e-3, off_s=10e-3)))
SCHEME = replace(cbr.SCHEME, name="on_off", summary="datagrams in ON periods (control)", short=STACK, long=STACK)
