"""Buffering delay and window delay of caps as SymPy forms.

================ ====== ==================== ==== ==========
Quantity         Symbol Name                 Unit Equation
================ ====== ==================== ==== ==========
buffering delay  d_B    buffering_delay      s    caps Eq. 3
window delay     d_w    window_delay         s    caps Eq. 4
uncoded delay    d_wnc  uncoded_window_delay s    caps Eq. 5
window delay     d_w    window_delay_full    s    caps Eq. 6
================ ====== ==================== ==== ==========
"""

import sympy as sp

from capsmodel.symbolic.decoding import DECODES, k, p_B, r, w
from capsmodel.symbolic.forms import Derivation, Formula, Step, between, same, telescoping

i = sp.Symbol("i", integer=True, positive=True)
MSS, C, RTT_S, RTT_L = sp.symbols("MSS C RTT_S RTT_L", positive=True)
p_S, d_B = sp.symbols("p_S d_B", positive=True)
_d_w = sp.Symbol("d_w")

_PACKET_DELAY = (k - i) * MSS / C
BUFFERING = (k - 1) * MSS / (2 * C)
WINDOW = p_S ** (w / k) * (RTT_S + d_B) + (1 - p_S ** (w / k)) * RTT_L
WINDOW_FULL = RTT_L + (RTT_S - RTT_L + BUFFERING) * DECODES ** (w / k)

_LINK = {k: "source packets of the unit", MSS: "packet size, bit", C: "bottleneck rate, bit/s"}
_ROUND_TRIPS = {RTT_S: "largest RTT of a path without long flows, s", RTT_L: "largest RTT of a path with long flows, s"}
_WINDOW = {w: "window, packets", **_ROUND_TRIPS}

FORMULAS = (
    Formula(
        "buffering_delay",
        "caps",
        "Eq. 3",
        sp.Eq(d_B, sp.Sum(_PACKET_DELAY, (i, 1, k)) / k),
        _LINK,
        "capsmodel.coding.window_delay.buffering_delay_s",
    ),
    Formula(
        "window_delay",
        "caps",
        "Eq. 4",
        sp.Eq(_d_w, WINDOW),
        {k: _LINK[k], p_S: "probability that a unit decodes", d_B: "buffering delay, s", **_WINDOW},
        "capsmodel.coding.window_delay.window_delay_s",
    ),
    Formula(
        "uncoded_window_delay",
        "caps",
        "Eq. 5",
        sp.Eq(sp.Symbol("d_wnc"), (1 - p_B) ** w * RTT_S + (1 - (1 - p_B) ** w) * RTT_L),
        {p_B: "probability that a packet is blocked", **_WINDOW},
        "capsmodel.coding.window_delay.uncoded_window_delay_s",
    ),
    Formula(
        "window_delay_full",
        "caps",
        "Eq. 6",
        sp.Eq(_d_w, WINDOW_FULL),
        {**_LINK, r: "repair packets of the unit", p_B: "probability that a packet is blocked", **_WINDOW},
        "capsmodel.coding.window_delay.window_delay_s",
    ),
)


def derive_buffering_delay() -> Derivation:
    """Derive the closed form of caps Eq. 3.

    Returns
    -------
    Derivation
        From the mean wait of a packet for the last of its unit to (k - 1) MSS / (2 C), for every k.

    References
    ----------
    caps Eq. 3.

    Examples
    --------
    >>> print(derive_buffering_delay().result)
    Eq(d_B, MSS*(k - 1)/(2*C))
    """
    primitive = -(k - i) * (k - i + 1) / 2 * MSS / C
    return Derivation(
        "buffering_delay",
        "caps",
        ("Eq. 3",),
        (
            Step("Packet i waits for the k - i packets behind it", sp.Eq(d_B, sp.Sum(_PACKET_DELAY, (i, 1, k)) / k)),
            Step(
                "The wait is a difference T(i+1) - T(i)",
                sp.Eq(sp.Function("T")(i), primitive),
                (telescoping(_PACKET_DELAY, primitive, i),),
            ),
            Step(
                "So the mean is (T(k+1) - T(1)) / k",
                sp.Eq(d_B, BUFFERING),
                (same(between(primitive, i, 1, k) / k, BUFFERING),),
            ),
        ),
    )


def derive_window_delay() -> Derivation:
    """Derive caps Eq. 6 from Eq. 2, 3 and 4.

    Returns
    -------
    Derivation
        From the two outcomes of a window to one product.

    References
    ----------
    caps Eq. 2-4, 6.

    Examples
    --------
    >>> derive_window_delay().holds()
    True
    """
    gathered = RTT_L + (RTT_S - RTT_L + d_B) * p_S ** (w / k)
    return Derivation(
        "window_delay",
        "caps",
        ("Eq. 2", "Eq. 3", "Eq. 4", "Eq. 6"),
        (
            Step("All w/k units decode, or the window waits for a slow path", sp.Eq(_d_w, WINDOW)),
            Step("Gathered", sp.Eq(_d_w, gathered), (same(WINDOW, gathered),)),
            Step("The decoding probability of a unit is Eq. 2", sp.Eq(p_S, DECODES)),
            Step(
                "Inserted with the buffering delay of Eq. 3",
                sp.Eq(_d_w, WINDOW_FULL),
                (same(WINDOW.subs({d_B: BUFFERING, p_S: DECODES}), WINDOW_FULL),),
            ),
        ),
    )


DERIVATIONS = (derive_buffering_delay, derive_window_delay)
