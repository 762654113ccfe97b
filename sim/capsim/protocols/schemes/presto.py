"""Presto: flowcells of 64 KB over all paths in turn, put in order at the receiver; NewReno at the hosts.

Acknowledgements are without payload, so that all of a flow stay in one flowcell: they go by the hash of the reverse
flow. Where losses are many, reassembly may make flows slower (:mod:`capsim.protocols.layers.presto`).
"""

from dataclasses import replace

from capsim.protocols.balancers.labelled import LABELLED
from capsim.protocols.layers.presto import PRESTO
from capsim.protocols.schemes import ecmp

STACK = replace(ecmp.STACK, layer=PRESTO)
SCHEME = replace(
    ecmp.SCHEME,
    name="presto",
    summary="flowcells of 64 KB over all paths in turn",
    short=STACK,
    long=STACK,
    balancer=LABELLED,
    cite="presto2015",
)
