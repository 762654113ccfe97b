"""CAPS read literally in Section IV (3): k packets wait at the sender, and TCP gets and acknowledges a decoded unit.

The authors' kernel module for Mininet does so too. What speaks against it: :mod:`capsim.protocols.layers.params`.
"""

from dataclasses import replace

from capsim.protocols.layers.params import Acknowledged
from capsim.protocols.schemes import caps

LAYER = replace(caps.STACK.layer, params=replace(caps.STACK.layer.params, ack=Acknowledged.DECODED, systematic=False))
SCHEME = replace(
    caps.SCHEME,
    name="caps_decode",
    summary="CAPS, ACKs wait for a decoded unit",
    short=replace(caps.STACK, layer=LAYER),
)
