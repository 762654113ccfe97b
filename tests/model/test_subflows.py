"""The subflow rules of MMPTCP: its printed numbers, and pairs of hosts counted one by one."""

import numpy as np
import pytest

from capsmodel.checks import ParameterError
from capsmodel.multipath.subflows import cross_pod_prob, subflow_count, subflow_minimum_window_share


def test_number_of_subflows_and_their_least_windows() -> None:
    assert [subflow_count(layer) for layer in ("core", "aggregation", "access")] == [8, 4, 1]
    np.testing.assert_allclose(subflow_minimum_window_share([8, 4, 1], bdp_packets=30), [16 / 30, 8 / 30, 2 / 30])
    with pytest.raises(ParameterError, match="location = 'rack': there are core, aggregation, access"):
        subflow_count("rack")


def test_flows_that_leave_their_pod_by_counting_pairs_of_hosts() -> None:
    hosts = [(pod, host) for pod in range(4) for host in range(3)]
    other_pod = sum(a[0] != b[0] for a in hosts for b in hosts if a != b) / (12 * 11)
    assert cross_pod_prob(4, hosts_per_pod=3) == pytest.approx(other_pod, rel=1e-12)
    with pytest.raises(ParameterError, match="a flow needs two"):
        cross_pod_prob(1, hosts_per_pod=1)
