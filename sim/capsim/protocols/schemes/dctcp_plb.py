"""DCTCP whose flows change their path after many marked rounds (PLB, Qureshi et al. 2022, as in Linux)."""

from dataclasses import replace

from capsim.protocols.marking.entropy import ENTROPY, EntropyParams, Policy
from capsim.protocols.schemes import dctcp

STACK = replace(dctcp.STACK, marking=replace(ENTROPY, params=EntropyParams(policy=Policy.PLB)))
SCHEME = replace(
    dctcp.SCHEME,
    name="dctcp_plb",
    summary="DCTCP, another path after many marked rounds",
    short=STACK,
    long=STACK,
    cite="RFC 8257, PLB (SIGCOMM 2022)",
)
