"""Counter-based random numbers: uniform, independent between streams, and the same in both engines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from capsim.base.objects import slotted
from capsim.base.randomness import MASK, SECOND, draw, key, mix, uniform
from capsim.engines.compiled.jit import FLAGS, part
from capsim.records import SWITCH


def stream(seed, purpose, index, n):
    name = key(seed, purpose, index)
    return np.array([uniform(name, count) for count in range(n)])


part_uniform = part(uniform)
compiled_uniform = njit(**FLAGS)(lambda name, count: part_uniform(name, count))


@given(name=st.integers(0, MASK), count=st.integers(0, 2**40))
def test_compiled_is_the_same(name, count):
    assert compiled_uniform(name, count) == uniform(name, count)


@given(name=st.integers(0, MASK), count=st.integers(0, 2**40) | st.integers(2**32 - 3, 2**32 + 3))
def test_a_switch_draws_its_stream(name, count):
    first = count - (count & MASK)  # where the kept part of the hash was made
    switch = slotted(SWITCH)(np.array([(0, name, mix(name ^ (first >> 32) ^ SECOND), count, 0, 0)], SWITCH)[0])
    assert [draw(switch) for _ in range(5)] == [uniform(name, count + step) for step in range(5)]


@given(value=st.integers(0, MASK))
def test_mix_stays_in_range(value):
    assert 0 <= mix(value) <= MASK


def test_mix_is_a_permutation_of_what_was_tried():
    assert len({mix(value) for value in range(100_000)}) == 100_000


def test_uniform_in_256_cells():
    counts = np.bincount((stream(7, 2, 0, 100_000) * 256).astype(int), minlength=256)
    chi2 = ((counts - counts.mean()) ** 2 / counts.mean()).sum()
    assert 160 < chi2 < 370  # 255 degrees of freedom: mean 255, standard deviation 22.6


def test_pairs_are_independent():
    draws = stream(7, 2, 1, 100_001)
    cells = np.bincount((draws[1:] * 16).astype(int) * 16 + (draws[:-1] * 16).astype(int), minlength=256)
    chi2 = ((cells - cells.mean()) ** 2 / cells.mean()).sum()
    assert 160 < chi2 < 370


def test_neighbouring_streams_are_independent():
    streams = np.array([stream(1, 2, index, 20_000) for index in range(8)])
    correlation = np.corrcoef(streams) - np.eye(8)
    assert np.abs(correlation).max() < 4.9 / np.sqrt(20_000)


@given(
    seed=st.integers(0, 2**63 - 1),
    purpose=st.integers(1, 6),
    indices=st.lists(st.integers(0, MASK) | st.integers(0, 2**40), min_size=1, max_size=5),
)
def test_an_array_of_indices_gives_the_key_of_each(seed, purpose, indices):
    asked = np.array(indices)
    assert key(seed, purpose, asked).tolist() == [key(seed, purpose, index) for index in indices]
    assert asked.tolist() == indices


def test_mix_of_an_array_leaves_it_alone():
    values = np.array([0, 1, 2**31, MASK])
    assert mix(values).tolist() == [mix(value) for value in values.tolist()]
    assert values.tolist() == [0, 1, 2**31, MASK]


def test_purposes_and_seeds_have_streams_of_their_own():
    names = {key(seed, purpose, index) for seed in (0, 1, 2**40) for purpose in range(1, 5) for index in range(500)}
    assert len(names) > 5990  # of 6000; 32 bits allow a collision now and then
