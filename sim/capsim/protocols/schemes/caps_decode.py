"""CAPS read literally in Section IV (3): k packets wait at the sender, and TCP gets and acknowledges a decoded unit.

The authors' kernel module for Mininet does so too. What speaks against it: :mod:`capsim.protocols.coding.params`.
"""

from dataclasses import replace

from capsim.protocols.coding.params import Acknowledged
from capsim.protocols.schemes import caps

CODING = replace(
    caps.SCHEME.coding, params=replace(caps.SCHEME.coding.params, ack=Acknowledged.DECODED, systematic=False)
)
SCHEME = replace(
    caps.SCHEME, name="caps_decode", summary="CAPS whose ACKs wait for the decoding of a unit", coding=CODING
)
