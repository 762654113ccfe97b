"""The setting of CAPS, Section VI-D, in which it prints its optimal coding units."""

from typing import Any

WINDOW_PACKETS = 64
PAPER_PROBS = (0.2, 0.25, 0.3, 0.35)
"""The only blocking probabilities p_B that the paper lists."""
SETTING: dict[str, Any] = {"packet_bytes": 1500, "rate_bps": 1e9, "rtt_short_s": 1e-4, "rtt_long_s": 3e-3}
"""Arguments of :func:`capsmodel.optimal_coding_unit`: packet size, rate, and round-trip times without and with long
flows."""
