"""CAPS_dark: CAPS without knowledge of sizes. Each flow is coded until it has sent 100 KB (69 segments)."""

from dataclasses import replace

from capsim.protocols.schemes import caps

CODING = replace(caps.SCHEME.coding, coded="all", params=replace(caps.SCHEME.coding.params, coded_packets=69))
SCHEME = replace(
    caps.SCHEME, name="caps_dark", summary="CAPS that learns sizes as flows go on", coding=CODING, known_sizes=False
)
