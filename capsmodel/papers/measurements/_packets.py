"""Shared by measurements: the size of a full packet, and the check of a run that none was lost."""

from capsim import Result
from capsim.roles.components import SegmentParams
from capsmodel.checks import require

MSS_BYTES, HEADER_BYTES = SegmentParams.mss_bytes, SegmentParams.header_bytes
"""Payload of a full packet and its header, the simulator's own: 1460 and 40 bytes. An acknowledgement is a header."""
PACKET_BYTES = MSS_BYTES + HEADER_BYTES


def require_nothing_lost(result: Result, *, load: float) -> None:
    """Refuse a run in which a flow is unfinished or waited for its timer, or a packet was dropped."""
    summary = result.summary
    require(
        summary.unfinished_flows == summary.timeouts == summary.packets_dropped == 0,
        f"load = {load:g}: flows are unfinished, timed out or lost packets; take a smaller load",
    )
