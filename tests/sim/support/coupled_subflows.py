"""Subflows by hand, for rules that couple their windows."""

from types import SimpleNamespace

from capsim.records import ESTABLISHED, NONE

MSS = 1460


def subflows(*windows_and_rtts):
    """Return a flow and its subflows in congestion avoidance, each with a window in segments and a round trip in us."""
    subs = [
        SimpleNamespace(
            number=number,
            cwnd_bytes=window * MSS,
            srtt_ps=rtt * 10**6,
            state=ESTABLISHED,
            final=0,
            next_sub=number + 1,
            mss_bytes=MSS,
            ssthresh_bytes=MSS,
            newly_acked_bytes=MSS,
            lost_flight_bytes=window * MSS,
            max_window_bytes=10**9,
        )
        for number, (window, rtt) in enumerate(windows_and_rtts)
    ]
    subs[-1].next_sub = NONE
    return SimpleNamespace(first_sub=0, n_subs=len(subs)), subs
