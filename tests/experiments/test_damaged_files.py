"""Property: a result file of which a bit has changed is refused or reads as before; another kind of file is told."""

import json
import os
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsim import Batch, Dumbbell, Scenario, simulate
from capsim.results.files import read_manifest as read_run_manifest
from capsmodel import ParameterError
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import merge, read_manifest, write_part
from capsmodel.experiments.tables import read_table, rows_sha256, write_table

ROWS = pd.DataFrame(
    {
        "task_id": ["a"] * 40 + ["b"] * 40,
        "packets": range(80),
        "wait_s": [number / 7 for number in range(80)],
        "blocked": [number % 3 == 0 for number in range(80)],
        "path": [None if number % 5 == 0 else f"spine{number % 4}" for number in range(80)],
    }
)
TABLE = pa.Table.from_pandas(ROWS, preserve_index=False)


@pytest.mark.parametrize("seed", range(5))
def test_a_flipped_bit_never_gives_other_rows(seed, tmp_path):
    path = tmp_path / "part.parquet"
    write_part(TABLE, path, tasks=[{"id": "a"}, {"id": "b"}])
    manifest, whole = read_manifest(path), path.read_bytes()
    draw, refused = random.Random(seed), 0
    for bit in draw.sample(range(8 * len(whole)), 80):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            frame, found = merge([path]), read_manifest(path)
        except ParameterError:
            refused += 1
        else:
            pd.testing.assert_frame_equal(frame, ROWS, check_exact=True)
            assert found == manifest
    assert refused > 40


def test_a_file_that_ends_early_is_refused(tmp_path):
    path = tmp_path / "part.parquet"
    write_part(TABLE, path, tasks=[{"id": "a"}, {"id": "b"}])
    whole = path.read_bytes()
    for length, told in ((0, "no"), (3, "no"), (4, "a damaged"), (len(whole) // 2, "a damaged"), (-1, "a damaged")):
        path.write_bytes(whole[:length])
        with pytest.raises(
            ParameterError, match=rf"part\.parquet is {told} Parquet file: (name one|move it elsewhere)"
        ):
            merge([path])


def test_nobody_is_told_to_remove_a_file_that_is_no_result(tmp_path):
    """It may be a scenario that was named by mistake."""
    (tmp_path / "base.toml").write_text("seed = 1\n")
    with pytest.raises(
        ParameterError, match=r"base\.toml is no Parquet file: name one that capsmodel wrote, or a folder"
    ):
        merge([tmp_path / "base.toml"])


@pytest.mark.linux
def test_a_pipe_is_no_table(tmp_path):
    """A reader would wait for whoever writes to it."""
    os.mkfifo(tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match=r"a\.parquet is a pipe, but a table is read from a file"):
        merge([tmp_path])


def test_one_changed_value_changes_the_digest_of_the_rows(subtests):
    """Also where == would call the two values equal."""
    cases = [("packets", 7), ("wait_s", -0.0), ("path", "spine9"), ("path", None)]
    for column, value in cases:
        with subtests.test(column=column, value=value):
            one = ROWS.iloc[:2].assign(wait_s=0.0)
            other = one.copy()
            other.loc[1, column] = value
            tables = [pa.Table.from_pandas(frame, preserve_index=False) for frame in (one, other)]
            assert rows_sha256(tables[0]) != rows_sha256(tables[1])


def test_columns_without_a_number_or_a_text_have_a_digest_too(tmp_path):
    columns = {"windows": pa.array([[1, 2], []]), "nothing": pa.nulls(2), "at": pa.array([0, 1], pa.timestamp("s"))}
    coded = {"scheme": pa.array(["caps", "rps"]).dictionary_encode()}
    table = pa.table(columns | coded)
    write_table(table, tmp_path / "a.parquet", manifest=b"{}")
    assert read_table(tmp_path / "a.parquet")["windows"].to_pylist() == [[1, 2], []]
    assert rows_sha256(table) == rows_sha256(table.set_column(3, "scheme", pa.array(["caps", "rps"])))
    assert rows_sha256(table) != rows_sha256(table.set_column(0, "windows", pa.array([[1], [2]])))


@pytest.mark.parametrize("runs", [1, 5000])
def test_a_manifest_of_many_runs_is_stored_small_and_read_whole(runs, tmp_path):
    """Parquet holds it twice: in its own metadata, and within the schema of Arrow."""
    path, manifest = tmp_path / "a.parquet", {"tasks": [{"seed": seed, "scheme": "caps é"} for seed in range(runs)]}
    written = json.dumps(manifest, ensure_ascii=False).encode()
    write_table(TABLE, path, manifest=written)
    assert read_manifest(path) == manifest
    assert runs == 1 or path.stat().st_size < len(written)
    assert pq.read_schema(path).metadata is None  # where Arrow would keep it a second time


def test_rows_or_a_manifest_that_were_exchanged_are_refused(tmp_path):
    path = tmp_path / "part.parquet"
    write_part(TABLE, path, tasks=[{"id": "a"}, {"id": "b"}])
    metadata = {key: value for key, value in pq.read_metadata(path).metadata.items() if key.startswith(b"capsmodel")}
    pq.write_table(TABLE.slice(1).replace_schema_metadata(metadata), path)
    with pytest.raises(ParameterError, match="damaged, its rows are not those written"):
        merge([path])
    pq.write_table(TABLE.replace_schema_metadata(metadata | {b"capsmodel": b'{"tasks":[]}'}), path)
    with pytest.raises(ParameterError, match="damaged, its manifest is not the one written"):
        merge([path])
    pq.write_table(TABLE.replace_schema_metadata({b"capsmodel": b'{"tasks":[]}'}), path)
    with pytest.raises(ParameterError, match="carries no digests"):
        merge([path])


@pytest.mark.parametrize("manifest", [b"no json", b"[1]", b"[" * 100_000, b'"\xff"'])
def test_a_manifest_that_is_no_json_object_is_refused(manifest, tmp_path):
    write_table(TABLE, tmp_path / "a.parquet", manifest=manifest)
    with pytest.raises(ParameterError, match=r"a\.parquet (is a damaged Parquet file|has a manifest that is no)"):
        read_manifest(tmp_path / "a.parquet")


def test_a_table_of_a_run_and_rows_of_a_sweep_are_told_apart(tmp_path):
    scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flows=1, flow_bytes=1, pairs="sides"),))
    folder = simulate(scenario, engine="reference").save(tmp_path / "run")
    with pytest.raises(ParameterError, match=r"flows\.parquet is a table of a simulated run, no part of a sweep"):
        merge([folder])
    with pytest.raises(ParameterError, match=r"caps-fig1\.parquet holds rows of a sweep, no table of a run"):
        read_run_manifest(data_path("results/runs") / "caps-fig1.parquet")
