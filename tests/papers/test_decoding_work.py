"""The measured decoding work of DC2-MTCP agrees with the formula of Section V."""

import pytest

from capsmodel.multipath.coded_transport import decoding_work_ratio
from capsmodel.papers.measurements.decoding_work import decoding_work


def test_preemptive_decoding_examines_fewer_rows_and_does_the_same_operations(subtests: pytest.Subtests) -> None:
    """Rows examined stay below l/(m + l), which is below l/m; row operations are those of Gauss-Jordan elimination."""
    for originals, coded in [(95, 4), (200, 9), (400, 18), (1000, 10)]:
        with subtests.test(originals=originals, coded=coded):
            work = decoding_work(originals, coded=coded, mixed_packets=15, seed=12).set_index("algorithm")
            usual, preemptive = work.loc["Gauss-Jordan"], work.loc["preemptive"]
            left = preemptive["rows_examined"] / usual["rows_examined"]
            assert left < decoding_work_ratio(coded, original=originals) < coded / originals
            assert preemptive["row_operations"] == usual["row_operations"]
