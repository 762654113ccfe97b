"""SC-MPTCP, reconstructed: IETF-MPTCP with a systematic code over blocks of the stream.

What is known of it, and what was chosen: :mod:`capsim.protocols.layers.generations`. What lies below is that of
`ietf_mptcp`, eight subflows included; dc2mtcp runs two and four.
"""

from dataclasses import replace

from capsim.protocols.layers.generations import GENERATIONS
from capsim.protocols.schemes import ietf_mptcp

STACK = replace(ietf_mptcp.STACK, layer=GENERATIONS)
SCHEME = replace(
    ietf_mptcp.SCHEME,
    name="sc_mptcp",
    summary="MPTCP with a systematic code",
    reconstructed=True,
    short=STACK,
    long=STACK,
)
