"""What is no seed is refused in one clear line, as everywhere."""

import pytest
from agreement.measured.burst_queue import burst_waits
from agreement.measured.coupled_windows import simulate_coupled_windows

from capsmodel import ParameterError


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: burst_waits(0.5, bursts=10, rng=rng),
        lambda rng: simulate_coupled_windows([0.1], rtts_s=[1.0], connections=1, packets=4, rng=rng),
    ],
    ids=["burst_waits", "simulate_coupled_windows"],
)
def test_a_negative_seed_is_refused(call):
    with pytest.raises(ParameterError, match="rng = -1, but it must be a generator or a seed"):
        call(-1)
