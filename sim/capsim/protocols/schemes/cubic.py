"""CUBIC over ECMP, the congestion control of Linux, Windows and macOS.

At round trips of 100 us the cubic function plays no part: windows stay in the Reno-friendly region, AIMD(0.53, 0.7),
with a mean 8% above Reno's between random losses. What changes is what a loss leaves: 0.7 of the window in place of a
half, also of what slow start, which has no HyStart++ (RFC 9406) here, has sent too much. Where queues overflow often,
as in cold starts of ``websearch-load-60``, more packets are lost than with Reno, and short flows take 1.18 [1.03, 1.35]
times as long: claims of the study ``data/studies/cubic.toml``, which both hold.
"""

from dataclasses import replace

from capsim.protocols.congestion.cubic import CUBIC
from capsim.protocols.schemes import ecmp

STACK = replace(ecmp.STACK, congestion=CUBIC)
SCHEME = replace(ecmp.SCHEME, name="cubic", summary="ECMP, CUBIC windows", short=STACK, long=STACK, cite="RFC 9438")
