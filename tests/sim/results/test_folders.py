"""Property: a folder of results is the earlier one or the new one, whatever stops the process; bad places are told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from capsim import Batch, Dumbbell, ParameterError, Result, Scenario, simulate
from capsim.base import schema
from capsim.results import files
from capsim.results.files import check_folder

SCENARIO = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flows=2, flow_bytes=5000, pairs="sides"),))
PARQUET = frozenset(f"{name}.parquet" for name in schema.TABLES)


@pytest.fixture(scope="module")
def runs() -> tuple[Result, Result]:
    first, second = (simulate(SCENARIO.replace(seed=seed), engine="reference") for seed in (1, 2))
    return first, second


def stopped_at(rename: int, error: BaseException, *, after: bool) -> Callable[[Path, Path], Path]:
    """Return a replacement of `Path.replace` for folders that raises at the given rename, before it or after it."""
    renames, true_replace = [], Path.replace

    def replace(self: Path, target: Path) -> Path:
        if not self.is_dir():
            return true_replace(self, target)
        renames.append(target)
        stops = len(renames) == rename
        if stops and not after:
            raise error
        moved = true_replace(self, target)
        if stops:
            raise error
        return moved

    return replace


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rename", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_stopped_between_the_renames(
    runs: tuple[Result, Result],
    error: BaseException,
    rename: int,
    after: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    earlier, new = runs
    folder = earlier.save(tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stopped_at(rename, error, after=after))
        with pytest.raises(type(error)):
            new.save(folder)
    kept = new if (rename, after) == (2, True) else earlier
    assert Result.load(folder).manifest["id"] == kept.manifest["id"]
    new.save(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("reader", ["load", "save", "check"])
def test_killed_between_the_renames(
    runs: tuple[Result, Result], reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process puts nothing back; whoever comes next does."""
    earlier, new = runs
    folder = earlier.save(tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stopped_at(2, KeyboardInterrupt(), after=False))
        patched.setattr(files, "restore", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            new.save(folder)
    assert not folder.exists()
    if reader == "save":
        with pytest.raises(KeyboardInterrupt), files.whole_folder(folder, made_of=PARQUET):
            raise KeyboardInterrupt
    if reader == "check":
        check_folder(folder, made_of=PARQUET)
    assert Result.load(folder).manifest["id"] == earlier.manifest["id"]


def test_a_link_stays_a_link(runs: tuple[Result, Result], tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    for link, target in [("results", "disk"), ("planned", "later")]:
        (tmp_path / link).symlink_to(tmp_path / target)
        for result in runs:
            result.save(tmp_path / link)
        assert (tmp_path / link).is_symlink()
        assert Result.load(tmp_path / target).manifest["id"] == runs[1].manifest["id"]


def test_a_long_name_is_no_obstacle(runs: tuple[Result, Result], tmp_path: Path) -> None:
    assert Result.load(runs[0].save(tmp_path / ("n" * 200))).manifest == Result.load(tmp_path / ("n" * 200)).manifest


def test_what_could_not_be_written_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for folder, told in [("../file", "is a file"), (".", "current folder"), ("/", "is no result|cannot be replaced")]:
        with pytest.raises(ParameterError, match=told):
            check_folder(Path(folder), made_of=frozenset())
    for folder in ("../file/out", "x" * 300):
        with pytest.raises(OSError, match=r"Not a directory|File name too long"):
            check_folder(Path(folder), made_of=frozenset())
    check_folder(Path("new/folders"), made_of=frozenset())
    assert list(Path().iterdir()) == []
