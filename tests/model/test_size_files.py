"""Property: a file of points is the distribution that its lines describe, and a line that is none is named."""

import numpy as np
import pytest

from capsmodel import FlowSizes, ParameterError, load_workload, workload_names
from capsmodel.datafiles import data_path
from capsmodel.workloads.files import is_size_file, read_flow_sizes


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "sizes.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "1000,0.25\n5000,0.75\n20000,1\n",
        "size_bytes,cdf\n1000,0.25\n5000,0.75\n20000,1\n",
        "Size_KB,CDF\n1,0.25\n5000B,0.75\n20,1\n",
        "size_mb cdf\n0.001 0.25\n.005 0.75\n2e-2 1\n",
        "# mine\n\n1000 0.25\n5000\t0.75\n20000  1\n",
        "1KB;25\n5KB;75\n20KB;100\n",
        "﻿1e3, .25\r\n5e3, .75\r\n2e4, 1.0\r\n",
    ],
)
def test_points_are_read_however_they_are_separated(text, tmp_path):
    found = read_flow_sizes(written(tmp_path, text))
    expected = FlowSizes(np.array([1000.0, 5000.0, 20000.0]), np.array([0.25, 0.75, 1.0]))
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert found.cdf_values.tolist() == expected.cdf_values.tolist()
    assert found.name == "sizes.csv"


def test_the_published_files_are_read_as_load_workload_does():
    for name in workload_names():
        points = np.loadtxt(data_path(f"workloads/{name}.csv"), delimiter=",", skiprows=1, usecols=(0, 1))
        own = FlowSizes(points[:, 0], points[:, 1])
        assert load_workload(name).mean_bytes == own.mean_bytes
        assert not is_size_file(name)
    websearch = data_path("workloads/websearch_dctcp.csv")
    assert read_flow_sizes(websearch).mean_bytes == load_workload("websearch").mean_bytes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "sizes.csv holds no point"),
        ("size_bytes,cdf\n", "sizes.csv holds no point"),
        ("1000,0.5\n2000\n", "sizes.csv line 2: '2000' is no point"),
        ("1000,0.5\n2000,1,7\n", "sizes.csv line 2"),
        ("1000,0.5\nmany,1\n", "sizes.csv line 2: 'many,1' is no point"),
        ("1000,half\n2000,1\n", "sizes.csv line 1: '1000,half' is no point"),
        ("size_bytes,cdf\nsize_bytes,cdf\n", "sizes.csv line 2"),
        ("1e9999999999999999999,1\n", "sizes.csv line 1"),
        ("1000b,1\n", "sizes.csv line 1"),
        ("1000,0.5\n2000,0.9\n", "cdf_values ends at 0.9"),
        ("1000,0.5\n500,1\n", "sizes.csv: sizes falls somewhere"),
        ("1000,0.5\n2000,0.4\n3000,1\n", "cdf_values falls somewhere"),
        ("1000,0.5\n2000,101\n", "cdf_values = "),
        ("-1000,0.5\n2000,1\n", "sizes = -1000"),
        ("1e400,1\n", "sizes = inf"),
        ("1Gbps,1\n", "line 1"),
    ],
)
def test_what_is_no_distribution_is_told_in_one_line(text, told, tmp_path):
    with pytest.raises(ParameterError) as caught:
        read_flow_sizes(written(tmp_path, text))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "heads", ["size_packets,cdf", "cdf,size_bytes", "size,cdf", "size_bytes,pdf", "size_bytes,cdf,size_packets", "size"]
)
def test_heads_of_other_columns_are_refused(heads, tmp_path):
    """Catches heads that are left out unread: sizes in packets were taken for bytes."""
    with pytest.raises(ParameterError) as caught:
        read_flow_sizes(written(tmp_path, f"# mine\n{heads}\n1,0.5\n2,1\n"))
    rule = "they must be size_bytes,cdf (or size_kb, size_mb): rename, convert or swap the columns"
    assert str(caught.value) == f"sizes.csv line 2: heads {heads}, but {rule}"


def test_a_size_in_kilobytes_is_exact(tmp_path):
    """Catches 1.001 * 1000 in binary, which is not 1001."""
    assert read_flow_sizes(written(tmp_path, "size_kb,cdf\n1.001,1\n")).sizes.max() == 1001


def test_what_is_no_text_is_told(tmp_path):
    with pytest.raises(ParameterError, match=r"sizes\.csv is no UTF-8 text"):
        read_flow_sizes(written(tmp_path, "1000,½\n", "latin-1"))
    with pytest.raises(ParameterError, match="names no file"):
        read_flow_sizes("a\0.csv")
    with pytest.raises(FileNotFoundError):
        read_flow_sizes(tmp_path / "nosuch.csv")
