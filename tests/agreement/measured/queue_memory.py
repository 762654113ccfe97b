"""How long the queue of a shared port keeps its distance from the mean, on the fabric that constants are fitted to.

``PYTHONPATH=tests python -m agreement.measured.queue_memory`` prints, for each rate and scheme, the share that is left
after a round trip, which :data:`capsmodel.prediction.start.QUEUE_KEPT` is, and the correlations it is fitted to.

The queue of each receiver's port is sampled once a round trip (the base one and the mean queue). Of eleven samples in a
row of which nine and more have a packet that waits and another, the port is shared for as long as a short flow sends;
their correlation with the first sample falls like :math:`c^k`, of which c is fitted by least squares.
"""

import numpy as np
from agreement.measured.predicted_cells import Cell
from numpy.lib.stride_tricks import sliding_window_view
from scipy import optimize

from capsim import Probes, model_inputs, simulate
from capsmodel.checks import FloatArray
from capsmodel.prediction.waits import MARKED_SHARE

SETTINGS = [
    ("10g", "dctcp"),
    ("25g", "dctcp"),
    ("25g", "rps+dctcp+rack"),
    ("100g", "dctcp"),
    ("100g", "rps+dctcp+rack"),
]
_TRIPS, _FLOWS = 10, 2500


def correlations(profile: str, scheme: str) -> FloatArray:
    """Return the correlation of the queue of a shared port with itself after 1, 2, ... round trips."""
    scenario = Cell("fit", "leaf-spine:4x6x6", profile, "websearch", 0.5, scheme, _FLOWS, 7).scenario()
    inputs = model_inputs(scenario)
    of, fabric = inputs.scheme, inputs.fabric
    queue_s = MARKED_SHARE * of.standing_packets * of.packet_bytes * 8 / fabric.rate_bps
    trip_s = fabric.base_rtt_s(of.packet_bytes, of.ack_bytes) + queue_s
    probes = Probes(fields=("port.queue_bytes",), ports=("leaf*>host*",), period_s=trip_s)
    packets = simulate(scenario.replace(probes=probes)).samples("port.queue_bytes").to_numpy() / of.packet_bytes
    runs = sliding_window_view(packets, _TRIPS + 1, axis=0)
    runs = runs[(runs >= 2).mean(axis=-1) > 0.8]
    return np.corrcoef(runs.T)[0, 1:]


def kept_share(found: FloatArray) -> float:
    """Return the c of which the powers are nearest to correlations."""
    trips = 1 + np.arange(len(found))
    return float(optimize.minimize_scalar(lambda c: np.sum((c**trips - found) ** 2), bounds=(0, 1)).x)


if __name__ == "__main__":
    for profile, scheme in SETTINGS:
        found = correlations(profile, scheme)
        print(f"{profile:5} {scheme:15} {kept_share(found):.3f}  ", *(f"{each:.2f}" for each in found))
