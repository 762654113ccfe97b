"""All randomness of a run from one seed, one independent stream for each purpose.

A stream is found by its number, so a new purpose is added at the end and shifts no other; a scheme that draws more
than another leaves arrivals, sizes and endpoints as they are (common random numbers).
"""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is for."""

    ARRIVALS = 0
    SIZES = 1
    ENDPOINTS = 2
    PARTNERS = 3
    HOST_ORDER = 4
    HASHES = 5
    SPRAYING = 6
    TIES = 7
    HOST_JITTER = 8
    LOSSES = 9
    FAULTS = 10
    COMMON_PARTNERS = 11
    SURROUNDINGS = 12


def sequence(seed: int, purpose: Purpose, *, entry: int = 0) -> np.random.SeedSequence:
    """Return the seed sequence of one purpose, and of one traffic entry where that matters.

    Examples
    --------
    >>> sequence(1, Purpose.SIZES).spawn_key
    (1, 0)
    """
    return np.random.SeedSequence(seed, spawn_key=(int(purpose), entry))


def engine_seed(seed: int, purpose: Purpose) -> int:
    """Return a whole number of 63 bits for the counter-based streams of the engines."""
    return int(sequence(seed, purpose).generate_state(1, np.uint64)[0] >> np.uint64(1))


class EntrySeeds:
    """Generators of one traffic entry, by purpose; what is common to all entries of a run begins anew for each."""

    def __init__(self, seed: int, entry: int) -> None:
        def generator(purpose: Purpose) -> np.random.Generator:
            return np.random.default_rng(sequence(seed, purpose, entry=entry))

        self.arrivals, self.sizes = generator(Purpose.ARRIVALS), generator(Purpose.SIZES)
        self.endpoints, self.partners = generator(Purpose.ENDPOINTS), generator(Purpose.PARTNERS)
        self._run_seed, self._entry = seed, entry

    def surroundings(self) -> "EntrySeeds":
        """Return generators for flows that are not counted: a stream of their own, and the same hosts and pairs."""
        beside = EntrySeeds(self._run_seed, self._entry)
        own = np.random.default_rng(sequence(self._run_seed, Purpose.SURROUNDINGS, entry=self._entry))
        beside.arrivals = beside.sizes = beside.endpoints = own
        return beside

    @property
    def hosts(self) -> np.random.Generator:
        """Return a generator in its first state: every entry sees the same order of hosts."""
        return np.random.default_rng(sequence(self._run_seed, Purpose.HOST_ORDER))

    @property
    def common_partners(self) -> np.random.Generator:
        """Return a generator in its first state: every entry sees the same partner of each host."""
        return np.random.default_rng(sequence(self._run_seed, Purpose.COMMON_PARTNERS))
