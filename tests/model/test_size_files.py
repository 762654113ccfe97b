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


def refusal(tmp_path, text):
    """Return the one line that refuses a file."""
    with pytest.raises(ParameterError) as caught:
        read_flow_sizes(written(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    return str(caught.value)


def test_points_are_read_however_they_are_separated(subtests, tmp_path):
    cases = [
        "1000,0.25\n5000,0.75\n20000,1\n",
        "size_bytes,cdf\n1000,0.25\n5000,0.75\n20000,1\n",
        "Size_KB,CDF\n1,0.25\n5000B,0.75\n20,1\n",
        "size_mb cdf\n0.001 0.25\n.005 0.75\n2e-2 1\n",
        "# mine; with, all\n\n1000 0.25\n5000\t0.75\n20000  1 \n",
        "cdf\tsize_bytes\n0.25\t1000\n# half\n0.75\t5000\n1\t20000\n",
        "1KB;25\n5KB;75\n20KB;100\n",
        "﻿1e3, .25\r\n5e3, .75\r\n2e4, 1.0\r\n",
    ]
    for text in cases:
        with subtests.test(text=text):
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


POINT = "write a size in bytes and F, as in 100000,0.6 or 100KB,60"
COLUMNS = "the columns are size_bytes, cdf and perhaps ignored"


def test_what_is_no_point_is_told_in_one_line(subtests, tmp_path):
    cases = [
        ("", f"sizes.csv holds no row of size_bytes,cdf: {POINT}"),
        ("size_bytes,cdf\n", "sizes.csv holds no row of size_bytes,cdf"),
        ("1000,0.5\n2000\n", f"sizes.csv line 2: '2000' has 1 cell for 2 columns, separated by commas: {POINT}"),
        ("1000,0.5\n2000,1,7\n", "sizes.csv line 2: '2000,1,7' has 3 cells for 2 columns"),
        ("1000,0.5\n2000 1\n", "sizes.csv line 2: '2000 1' has 1 cell for 2 columns, separated by commas"),
        ("1000;0,5\n2000;1\n", "sizes.csv line 1: cdf: '0,5' is no number: write the decimal point as a dot"),
        ("1000,0.5\nmany,1\n", "sizes.csv line 2: size_bytes: 'many' is not a size"),
        ("1000,half\n2000,1\n", f"sizes.csv line 1: cdf: 'half' is no number: {POINT}"),
        ("1000,50%\n2000,1\n", "sizes.csv line 1: cdf: '50%' is no number"),
        ("size_bytes,cdf\nsize_bytes,cdf\n", "sizes.csv line 2: size_bytes: 'size_bytes' is not a size"),
        ("1e9999999999999999999,1\n", "sizes.csv line 1: size_bytes: '1e9999999999999999999', but it must be finite"),
        ("1e400,1\n", "sizes.csv line 1: size_bytes: '1e400', but it must be finite and not negative"),
        ("-1000,0.5\n2000,1\n", "sizes.csv line 1: size_bytes: '-1000', but it must be finite and not negative"),
        ("1000,-0.5\n2000,1\n", "sizes.csv line 1: cdf: '-0.5', but it must be finite and not negative"),
        ("1000b,1\n", "sizes.csv line 1: size_bytes: '1000b' is not a size: b is bits"),
        ("1Gbps,1\n", "sizes.csv line 1: size_bytes: '1Gbps' is not a size"),
        ("0,1\n", "sizes.csv: all sizes are 0"),
    ]
    for text, told in cases:
        with subtests.test(text=text, told=told):
            assert refusal(tmp_path, text).startswith(told)


def test_an_empty_cell_is_refused_with_its_line(subtests, tmp_path):
    """Catches rows that are left out because their first cell is empty; the points that stayed gave another mean."""
    cases = [("{}0.6", "size_bytes"), ("5000{}", "cdf"), (" {}0.6", "size_bytes")]
    for heads in ["size_bytes{}cdf\n", ""]:
        for row, column in cases:
            for separator in [",", ";", "\t"]:
                with subtests.test(heads=heads, row=row, column=column, separator=separator):
                    text = f"{heads}1000{{}}0.2\n{row}\n9000{{}}1\n".replace("{}", separator)
                    line = 3 if heads else 2
                    assert refusal(tmp_path, text).startswith(f"sizes.csv line {line}: {column}: an empty cell")
                    cut = f"1000{separator}0.2\n{separator}5000{separator}0.7\n9000{separator}1\n"
                    assert "line 2" in refusal(tmp_path, cut)


def test_only_rows_without_any_text_are_left_out(tmp_path):
    found = read_flow_sizes(written(tmp_path, "1000,0.5\n , \n,\n\n# none\n2000,1\n"))
    assert found.sizes.tolist() == [1000, 1000, 2000]


def test_the_line_where_points_are_no_distribution_is_told(subtests, tmp_path):
    """With the numbers of the file, not those that they were turned into."""
    cases = [
        ("1 0.30\n2 0.35\n# half\n3 0.330\n4 1\n", "line 4: F = 0.330 after 0.35, but a distribution function never"),
        ("7 17.5\n8 16.4286\n9 100\n", "line 2: F = 16.4286 after 17.5, but"),
        ("1 0.3\n3KB 0.5\n\n2KB 0.7\n9KB 1\n", "line 4: a size of 2KB after 3KB, but points are listed by increasing"),
        ("size_kb,cdf\n3,0.5\n2.5,1\n", "line 3: a size of 2.5 after 3, but"),
        ("1000,0.5\n2000,0.9\n", "line 2: F ends at 0.9, but it must end at 1, or at 100 for percent"),
        ("1000,50\n2000,99.99\n", "line 2: F ends at 99.99, but it must end at 1, or at 100 for percent"),
        ("1000,50\n2000,101\n", "line 2: F ends at 101, but"),
        ("100,20\n9000,1234\n", "line 2: F ends at 1234, but"),
        ("0.15 6000\n0.5 9000\n1 20000\n", "line 3: F ends at 20000, but it must end at 1, or at 100 for percent; are"),
        ("size_bytes,cdf_percent\n9,0.5\n10,1\n", "line 3: F ends at 1, but percent end at 100"),
        ("size_bytes,cdf_percent\n9,50\n10,10000\n", "line 3: F ends at 10000, but percent end at 100"),
        ("100,0\n1000,0.5\n2000,1.0\n3000,100\n", "line 2: F = 0.5, and F ends at 100: percent or probabilities?"),
    ]
    for text, told in cases:
        with subtests.test(text=text, told=told):
            assert refusal(tmp_path, text).startswith(f"sizes.csv {told}")


def test_percent_are_read_where_they_are_meant(subtests, tmp_path):
    cases = [
        ("size_bytes,cdf\n10,0\n20,100\n", [0, 1]),  # nothing that could be a probability
        ("10,0.5\n20,50\n30,100\n", [0, 0.005, 0.5, 1]),
        ("size_bytes,CDF_percent\n10,0.5\n20,100\n", [0, 0.005, 1]),
        ("10,100\n", [0, 1]),
        ("10,40\n20,99.99999999999999\n", [0, 0.4, 1]),
        ("10,40\n20,100.00000000000001\n", [0, 0.4, 1]),
        ("10,0.4\n20,0.9999999999999999\n", [0, 0.4, 1]),
        ("10,0.4\n20,1.0000000000000002\n", [0, 0.4, 1]),
    ]
    for text, values in cases:
        with subtests.test(text=text, values=values):
            assert read_flow_sizes(written(tmp_path, text)).cdf_values.tolist() == values


def test_sizes_in_packets_are_read_with_1460_bytes_each(tmp_path):
    """Both forms of the table of a generator; the moments are those of the same points in bytes."""
    expected = FlowSizes([1460, 1460, 4380, 2_920_000], [0, 0.5, 0.9, 1])
    rows = ["1 1 0", "1 1 0.5", "3 1 0.9", "2000 1 1.0"]
    found = read_flow_sizes(written(tmp_path, "size_packets ignored cdf\n" + "\n".join(rows)))
    assert (found.sizes.tolist(), found.cdf_values.tolist()) == (expected.sizes.tolist(), expected.cdf_values.tolist())
    assert found.mean_bytes == expected.mean_bytes
    assert found.mean_bytes == pytest.approx(0.5 * 1460 + 0.4 * 2920 + 0.1 * 1_462_190)
    two = read_flow_sizes(written(tmp_path, "cdf;size_packets\n0;1\n.5;1\n90e-2;3\n1;2000\n"))
    assert two.mean_bytes == expected.mean_bytes
    told = refusal(tmp_path, "\n".join(rows))
    assert told.startswith("sizes.csv line 1: '1 1 0' has 3 cells for 2 columns, separated by blanks")
    assert told.endswith("above three columns in packets write the line: size_packets ignored cdf")


# One of the tables of Homa's simulations: the mean in its first line, then steps
# (github.com/PlatformLab/HomaSimulation, homatransport/sizeDistributions/TestDistribution.txt).
HOMA_MEAN_BYTES = 27168.4
HOMA = """
100  0.5
1456  0.65
10000  0.75
100000  0.999
1000000  1.0
"""


def test_steps_have_the_mean_that_homa_prints(tmp_path):
    found = read_flow_sizes(written(tmp_path, f"size_bytes cdf_steps{HOMA}"))
    assert found.mean_bytes == pytest.approx(HOMA_MEAN_BYTES, rel=1e-12)
    lines = read_flow_sizes(written(tmp_path, f"size_bytes cdf{HOMA}"))
    assert lines.mean_bytes < 0.6 * HOMA_MEAN_BYTES


@pytest.mark.parametrize("heads", ["size_kb,cdf_steps\n", "cdf_steps;size_kb\n"])
def test_a_step_is_drawn_and_nothing_between_steps(heads, tmp_path):
    cells = [("1", "0.25"), ("1", "0.5"), ("5", "0.5"), ("20", "1")]
    cut = "," if "," in heads else ";"
    rows = "\n".join(cut.join(row if heads.startswith("size") else row[::-1]) for row in cells)
    found = read_flow_sizes(written(tmp_path, heads + rows))
    assert found.mean_bytes == 10_500
    assert set(found.sample(200, rng=1).tolist()) == {1000.0, 20_000.0}
    assert found.cdf([999, 1000, 19_999, 20_000]).tolist() == [0, 0.5, 0.5, 1]


def test_heads_of_other_columns_are_refused(subtests, tmp_path):
    """Catches heads that are left out unread."""
    cases = [
        ("size,cdf", f"unknown column 'size': {COLUMNS}"),
        ("size_bytes,pdf", f"unknown column 'pdf': {COLUMNS}"),
        ("size_bytes,cdf,size_packets", "'size_packets' is the second column for 'size_bytes': leave one out"),
        ("size_bytes,cdf,cdf_percent", "'cdf_percent' is the second column for 'cdf': leave one out"),
        (",size_bytes,cdf", "column 1 has no name"),
        (
            "size_bytes",
            "no column cdf in ['size_bytes'], separated by blanks: the first line names the columns, size_bytes, cdf",
        ),
    ]
    for heads, told in cases:
        with subtests.test(heads=heads, told=told):
            assert refusal(tmp_path, f"# mine\n{heads}\n1,0.5\n2,1\n").startswith(f"sizes.csv line 2: {told}")


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


@pytest.mark.linux
def test_a_device_is_told():
    with pytest.raises(OSError, match="a device"):
        read_flow_sizes("/dev/zero")
