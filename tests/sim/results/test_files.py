"""Identity: what :meth:`Result.save` wrote is what :meth:`Result.load` gives back, and what it refuses."""

from copy import deepcopy
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from capsim import LeafSpine, ParameterError, Poisson, Probes, Result, Scenario, simulate
from capsim.base import schema
from capsim.results.files import read_manifest, read_table, write_table
from capsmodel.experiments import tables
from capsmodel.experiments.manifest import manifest_json

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=20),
    traffic=(Poisson(load=0.7, flows=12, min_bytes=1000, max_bytes=200_000, pairs="other-leaf"),),
    probes=Probes(period_s=1e-3, ports=("leaf0>spine*",), flows=(0, 3)),
    trace="drops",
)
WATCHED = SCENARIO.replace(probes=Probes(histograms=True), subflows=True, warm_up_s=0.01)
PLAIN = SCENARIO.replace(probes=None, trace="off")


def loaded(scenario: Scenario, folder: Path, scheme: str) -> tuple[Result, Result]:
    result = simulate(scenario, scheme=scheme)
    return result, Result.load(result.save(folder))


@pytest.mark.parametrize(
    ("scenario", "scheme"),
    [(SCENARIO, "caps"), (SCENARIO, "ecmp"), (PLAIN, "ecmp"), (WATCHED, "caps"), (PLAIN, "repflow")],
)
def test_all_comes_back(scenario: Scenario, scheme: str, tmp_path: Path) -> None:
    """With units and without, with samples and a trace and without."""
    saved, again = loaded(scenario, tmp_path / "out", scheme)
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(saved, name), check_exact=True)
    assert again.scenario == saved.scenario
    assert again.manifest == saved.manifest
    assert again.resources == saved.resources
    pd.testing.assert_series_equal(pd.Series(again.summary.to_dict()), pd.Series(saved.summary.to_dict()))
    assert repr(again) == repr(saved)
    assert Result.load(again.save(tmp_path / "twice")).manifest == saved.manifest


def test_raw_records_are_not_in_files(tmp_path: Path) -> None:
    saved, again = loaded(PLAIN, tmp_path / "out", "ecmp")
    assert len(saved.raw.flows) == 12
    with pytest.raises(ParameterError, match="read from files, which hold no raw records: simulate its scenario"):
        _ = again.raw


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"holds no flows.parquet: name a folder that a result was saved to"):
        Result.load(tmp_path)
    file = tmp_path / "flows.parquet"
    file.touch()
    with pytest.raises(ParameterError) as error:
        Result.load(file)
    assert str(error.value) == f"{file} is a file: give its folder, {tmp_path}"


def test_files_of_two_runs_are_refused(tmp_path: Path) -> None:
    for seed in (1, 2):
        simulate(PLAIN.replace(seed=seed)).save(tmp_path / str(seed))
    (tmp_path / "2/ports.parquet").replace(tmp_path / "1/ports.parquet")
    with pytest.raises(ParameterError, match=r"ports.parquet is of another run than flows.parquet"):
        Result.load(tmp_path / "1")
    with pytest.raises(FileNotFoundError, match=r"ports.parquet"):
        Result.load(tmp_path / "2")


def test_other_columns_are_refused(tmp_path: Path) -> None:
    folder = simulate(PLAIN).save(tmp_path / "out")
    path = folder / "ports.parquet"
    fewer = read_table(path).drop(columns="utilisation")
    write_table(fewer, path, manifest=read_manifest(path), meanings=schema.PORTS)
    with pytest.raises(ParameterError, match=r"ports.parquet was made by capsmodel \S+ with other columns"):
        Result.load(folder)


OTHER_TYPES: list[tuple[str, object]] = [
    ("id", 5),
    ("software", "capsmodel"),
    ("software.version", None),
    ("parameters", []),
    ("parameters.scenario", -1),
    ("parameters.scheme", "ecmp"),
    ("resources", {"cpu_s": 1.0}),
    ("resources.cpu_s", "long"),
    ("scheme_file", "own.py"),
    ("scheme_file", {"file": 1, "constant": "SCHEME", "sha256": ""}),
]


def test_a_manifest_with_other_types_is_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """Its digest is right: whoever edited it may have written that too."""
    loaded(PLAIN, tmp_path / "out", "ecmp")
    path = tmp_path / "out" / "flows.parquet"
    table, written = tables.read_table(path), read_manifest(path)
    for place, value in OTHER_TYPES:
        with subtests.test(place=place, value=value):
            manifest, (*outer, name) = deepcopy(written), place.split(".")
            (manifest[outer[0]] if outer else manifest)[name] = value
            tables.write_table(table, path, manifest=manifest_json(manifest))
            for read in (read_manifest, lambda path: Result.load(path.parent)):
                with pytest.raises(ParameterError, match=r"has a manifest that no run has written, .*: simulate again"):
                    read(path)


def test_a_meaning_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = simulate(PLAIN).save(tmp_path / "out")
    path = folder / "flows.parquet"
    table, manifest = tables.read_table(path), manifest_json(read_manifest(path))
    fields = [field.with_metadata({b"meaning": b"\xff"}) for field in table.schema]
    tables.write_table(table.cast(pa.schema(fields)), path, manifest=manifest)
    with pytest.raises(ParameterError, match=r"flows.parquet is damaged, the meaning of a column is no text"):
        Result.load(folder)
