"""CAPS: short flows are coded and sprayed; long flows hash while there are short flows and spray otherwise.

Each packet that is new to its unit is acknowledged as it comes. The paper contradicts itself on that point; why this
variant, and where each default comes from: :mod:`capsim.protocols.layers.params`. The other one is ``caps_decode``.
"""

from dataclasses import replace

from capsim.protocols.balancers.caps import CAPS
from capsim.protocols.layers.caps import CAPS_LAYER
from capsim.protocols.schemes import ecmp

STACK = replace(ecmp.STACK, layer=CAPS_LAYER)
SCHEME = replace(
    ecmp.SCHEME,
    name="caps",
    summary="short coded and sprayed, long adapt",
    short=STACK,
    balancer=CAPS,
    cite="caps",
)
