"""Property: a sweep runs every task once, whatever kills it, however it is batched, sharded and merged."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from experiments import sweep_functions as functions

from capsmodel import ParameterError
from capsmodel.code_identity import source_digest
from capsmodel.experiments import manifest, sweep
from capsmodel.experiments import task as task_module
from capsmodel.experiments.results import finished_tasks, part_files, read_manifest, write_part
from capsmodel.experiments.sweep import (
    OtherCodeWarning,
    SweepError,
    SweepReport,
    Task,
    all_cores,
    gather,
    measurement,
    merge,
    one_by_one,
    run_sweep,
)

ROOT = Path(__file__).resolve().parents[1]


def tasks_of(name, **lists):
    (key, values), *_ = lists.items()
    return [Task(getattr(functions, name), **{key: value}) for value in values]


SQUARES = tasks_of("square", number=range(7))


@dataclass
class Setting:
    load: float
    paths: tuple[int, ...]


def each_takes_a_second(monkeypatch):
    """Return an executor over this process, and let the clock of sweeps count the tasks that it has run."""
    ran = []
    monkeypatch.setattr(sweep, "time", SimpleNamespace(monotonic=lambda: len(ran), process_time=time.process_time))

    def execute(function, batches):
        for batch in batches:
            outcomes = function(batch)
            ran.extend(batch)
            yield outcomes

    return execute


def named(name, revision=1):
    """Return a measurement of this name and revision."""
    return measurement(name, revision=revision)(lambda **_: {})


def test_equal_content_has_equal_ids_and_any_change_another(monkeypatch):
    base = Task(named("a"), load=0.5, setting=Setting(0.1, (1, 2)))
    same = Task(named("a"), setting={"paths": [1, 2], "load": 0.1}, load=0.5)
    others = [
        Task(named("b"), **base.payload),
        Task(named("a", revision=2), **base.payload),
        Task(named("a"), **{**base.payload, "load": 0.25}),
        Task(named("a"), **base.payload, seed=1),
    ]
    assert base.id == same.id
    assert len({base.id, *(task.id for task in others)}) == 5
    monkeypatch.setattr(task_module, "SCHEMA", 99)
    assert len({base.id, Task(named("a"), **base.payload).id}) == 2


def test_neither_the_version_nor_the_address_is_in_the_id(monkeypatch):
    before = Task(functions.square, number=3).id
    monkeypatch.setattr(manifest, "__version__", "99.0")
    assert Task(named("square"), number=3).id == before


def test_no_task_is_begun_when_the_time_is_over(tmp_path, monkeypatch):
    """The same call goes on with those that are left."""
    execute = each_takes_a_second(monkeypatch)
    assert run_sweep(SQUARES, tmp_path, executor=execute, budget_s=0) == SweepReport(ran=0, found=0)
    assert run_sweep(SQUARES, tmp_path, executor=execute, budget_s=3) == SweepReport(ran=3, found=0)
    assert finished_tasks(tmp_path).keys() == {task.id for task in SQUARES[:3]}
    assert run_sweep(SQUARES, tmp_path, executor=execute) == SweepReport(ran=4, found=3)


def test_a_task_keeps_what_it_was_made_of():
    paths = [1, 2]
    task = Task(named("a"), paths=paths)
    paths.append(3)
    assert task.payload == {"paths": [1, 2]}


@pytest.mark.parametrize("size", [1, 3, 100])
def test_every_batch_size_gives_the_same_rows(size, tmp_path):
    report = run_sweep(SQUARES, tmp_path, executor=one_by_one, tasks_per_file=size)
    assert report == SweepReport(ran=7, found=0)
    assert len(part_files(tmp_path)) == -(-7 // size)
    frame = merge([tmp_path], task_ids=[task.id for task in SQUARES])
    assert frame.columns.tolist() == ["task_id", "number", "square", "seed_used"]
    assert frame["task_id"].tolist() == [task.id for task in SQUARES]
    assert frame["square"].tolist() == [0, 1, 4, 9, 16, 25, 36]


def test_all_cores_and_one_by_one_store_the_same(tmp_path):
    run_sweep(SQUARES, tmp_path / "here", executor=one_by_one)
    run_sweep(SQUARES, tmp_path / "cores", executor=all_cores(2))
    pd.testing.assert_frame_equal(merge([tmp_path / "here"]), merge([tmp_path / "cores"]))


def test_a_second_call_runs_nothing_and_a_longer_list_only_the_rest(tmp_path):
    run_sweep(SQUARES[:4], tmp_path, executor=one_by_one)
    before = {path: path.stat().st_mtime_ns for path in part_files(tmp_path)}
    assert run_sweep(SQUARES[:4], tmp_path, executor=one_by_one) == SweepReport(ran=0, found=4)
    assert run_sweep(SQUARES, tmp_path, executor=one_by_one, tasks_per_file=2) == SweepReport(ran=3, found=4)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_manifest_says_what_was_asked_and_nothing_of_the_place(tmp_path):
    run_sweep(SQUARES[:1], tmp_path, executor=one_by_one)
    (path,) = part_files(tmp_path)
    found = read_manifest(path)
    (record,) = found["tasks"]
    assert path.stem == record["id"] == SQUARES[0].id
    assert (record["measurement"], record["revision"]) == ("square", 1)
    assert Task(functions.square, **record["payload"]).id == record["id"]  # a round trip
    assert record["code"] == source_digest(functions.square)
    assert record["cpu_s"] >= 0
    assert found["software"]["name"] == "capsmodel"
    assert str(tmp_path) not in json.dumps(found)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [".locks"]


def test_a_task_may_have_no_rows_and_still_be_done(tmp_path):
    tasks = tasks_of("several_rows", count=[0, 2])
    run_sweep(tasks, tmp_path, executor=one_by_one, tasks_per_file=2)
    assert merge([tmp_path])["row"].tolist() == [0, 1]
    assert run_sweep(tasks, tmp_path, executor=one_by_one) == SweepReport(ran=0, found=2)


def test_failing_tasks_are_told_after_all_others_are_stored(tmp_path):
    tasks = tasks_of("fails_on_odd", number=range(5))
    with pytest.raises(SweepError, match=r"2 of 5 tasks failed(.|\n)*fails-on-odd.*\n(.|\n)*1 is odd"):
        run_sweep(tasks, tmp_path, executor=one_by_one, tasks_per_file=2)
    assert finished_tasks(tmp_path).keys() == {task.id for task in tasks[::2]}
    with pytest.raises(SweepError, match="2 of 2 tasks failed"):
        run_sweep(tasks, tmp_path, executor=one_by_one)
    with pytest.raises(ParameterError, match="2 of 5 tasks have no result"):
        merge([tmp_path], task_ids=[task.id for task in tasks])


def test_shards_merge_to_the_whole_and_may_overlap(tmp_path):
    run_sweep(SQUARES, tmp_path / "whole", executor=one_by_one)
    run_sweep(SQUARES[:5], tmp_path / "a", executor=one_by_one, tasks_per_file=5)
    run_sweep(SQUARES[3:], tmp_path / "b", executor=one_by_one)
    merged = merge([tmp_path / "a", tmp_path / "b"], out=tmp_path / "all.parquet")
    pd.testing.assert_frame_equal(merged, merge([tmp_path / "whole"]))
    pd.testing.assert_frame_equal(merged, merge([tmp_path / "all.parquet"]))
    assert len(read_manifest(tmp_path / "all.parquet")["tasks"]) == 7


def test_a_function_with_a_hidden_state_is_found_out_when_shards_overlap(tmp_path):
    task = Task(functions.unlike_each_call, counter=str(tmp_path / "calls"))
    run_sweep([task], tmp_path / "a", executor=one_by_one)
    run_sweep([task], tmp_path / "b", executor=one_by_one)
    with pytest.raises(ParameterError, match="not deterministic"):
        merge([tmp_path / "a", tmp_path / "b"])


def test_what_a_run_took_may_differ_where_shards_overlap(tmp_path):
    for name, cpu_s in (("a", 0.5), ("b", 0.75)):
        (tmp_path / name).mkdir()
        part_of(tmp_path / name, "one", square=0, cpu_s=cpu_s)
    for sources in (["a", "b"], ["b", "a"]):
        assert merge([tmp_path / name for name in sources])["square"].tolist() == [0]


def part_of(folder, name, *, task=SQUARES[0], **columns):
    """Write rows of a task as another source may have them."""
    table = pa.table({"task_id": [task.id], **{key: [value] for key, value in columns.items()}})
    write_part(table, folder / f"{name}.parquet", tasks=[{"id": task.id}])


def test_the_columns_that_two_sources_have_of_a_task_are_joined(tmp_path):
    """A file of many tasks has columns in which one of them has no value, and may hold integers as floats."""
    part_of(tmp_path, "few", fct_s=0.5, gaps=float("nan"), losses=3)
    part_of(tmp_path, "many", fct_s=0.5, gaps=float("nan"), losses=3.0, of_others=None)
    part_of(tmp_path, "more", fct_s=None, of_others=7)
    part_of(tmp_path, "rest", task=SQUARES[1], fct_s=0.25, timeouts=1)
    (first,) = merge([tmp_path], task_ids=[SQUARES[0].id]).to_dict("records")
    assert (first["fct_s"], first["losses"], first["of_others"]) == (0.5, 3, 7)
    assert sorted(first) == ["fct_s", "gaps", "losses", "of_others", "task_id"]


@pytest.mark.parametrize("fct_s", [0.25, math.nextafter(0.5, 1)])
def test_two_sources_that_differ_in_one_of_their_columns_are_told(fct_s, tmp_path):
    part_of(tmp_path, "one", fct_s=0.5, losses=3)
    part_of(tmp_path, "other", fct_s=fct_s, timeouts=1)
    with pytest.raises(ParameterError, match=r"other\.parquet differs from another source on task"):
        merge([tmp_path])


def with_code(folder, code):
    """Write the digest of some other code into the parts of a folder."""
    for path in part_files(folder):
        found = read_manifest(path)
        write_part(pq.read_table(path), path, tasks=[task | {"code": code} for task in found["tasks"]])


def test_results_of_other_code_are_used_with_a_warning(tmp_path):
    run_sweep(SQUARES[:3], tmp_path, executor=one_by_one)
    with_code(tmp_path, "0" * 64)
    with pytest.warns(OtherCodeWarning, match=r"3 kept results of 'square', revision 1, .*raise the revision"):
        assert run_sweep(SQUARES[:3], tmp_path, executor=one_by_one) == SweepReport(ran=0, found=3)


def test_a_merged_file_is_kept_while_the_code_goes_on(tmp_path):
    run_sweep(SQUARES[:2], tmp_path / "parts", executor=one_by_one)
    with_code(tmp_path / "parts", "0" * 64)
    (tmp_path / "kept").mkdir()
    merge([tmp_path / "parts"], out=tmp_path / "kept" / "all.parquet")
    assert run_sweep(SQUARES[:2], tmp_path / "kept", executor=one_by_one) == SweepReport(ran=0, found=2)


OTHER = """
import sys
from capsmodel.experiments.sweep import Task, all_cores, one_by_one, run_sweep
from experiments.sweep_functions import logged
folder = sys.argv[1]
tasks = [Task(logged, number=n, folder=folder) for n in range(6)]
run_sweep(tasks, folder + "/parts", executor={executor})
"""


def logged_tasks(folder):
    return [Task(functions.logged, number=n, folder=str(folder)) for n in range(6)]


def log(folder):
    return Counter(int(line) for line in (folder / "log").read_text().split())


@contextmanager
def other_process_in_task_3(folder, executor):
    """Give a process that runs `logged_tasks` and has come to task 3, which ends when somebody opens the door."""
    os.mkfifo(folder / "reached")
    os.mkfifo(folder / "door")
    command = [sys.executable, "-c", OTHER.format(executor=executor), str(folder)]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    (folder / "scratch").mkdir()  # joblib cannot clear its folder when all its processes are killed at once
    environment = os.environ | {"PYTHONPATH": paths, "JOBLIB_TEMP_FOLDER": str(folder / "scratch")}
    process = subprocess.Popen(command, start_new_session=True, env=environment)
    try:
        (folder / "reached").read_text()  # returns when task 3 runs
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def kill(process, folder):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (folder / "door").unlink()


@pytest.mark.linux
def test_killed_in_the_middle_it_resumes_with_what_is_missing(tmp_path):
    folder = tmp_path / "parts"
    with other_process_in_task_3(tmp_path, "all_cores(2)") as process:
        kill(process, tmp_path)
    stored = {task["payload"]["number"] for path in part_files(folder) for task in read_manifest(path)["tasks"]}
    assert 3 not in stored
    (tmp_path / "log").write_text("")
    report = run_sweep(logged_tasks(tmp_path), folder, executor=one_by_one)
    assert report == SweepReport(ran=6 - len(stored), found=len(stored))
    assert log(tmp_path) == Counter(set(range(6)) - stored)
    merged = merge([folder], task_ids=[task.id for task in logged_tasks(tmp_path)])
    assert merged["square"].tolist() == [0, 1, 4, 9, 16, 25]


@pytest.mark.linux
def test_two_sweeps_in_one_folder_divide_the_tasks(tmp_path):
    folder, ended = tmp_path / "parts", []
    half_written = folder / ".part.parquet.1-other.part"

    def open_the_door(tasks):
        ended.append(len(tasks))
        if len(ended) == 2:  # nothing is left but task 3, which the other process runs
            (tmp_path / "door").write_text("")

    with other_process_in_task_3(tmp_path, "one_by_one") as process:
        half_written.touch()
        report = run_sweep(logged_tasks(tmp_path), folder, executor=one_by_one, done=open_the_door)
        assert process.wait() == 0
    assert report == SweepReport(ran=2, found=4)
    assert log(tmp_path) == Counter(range(6))
    assert ended == [1, 1, 1]
    assert half_written.exists(), "the other process was alive and might have been writing it"


@pytest.mark.agreement
@pytest.mark.linux
@pytest.mark.parametrize("executor", [one_by_one, all_cores(2)])
def test_what_a_killed_sweep_was_running_is_run_by_the_other(executor, tmp_path):
    folder, ended = tmp_path / "parts", []

    with other_process_in_task_3(tmp_path, "one_by_one") as process:

        def kill_the_other(tasks):
            ended.append(tasks)
            if len(ended) == 2:
                kill(process, tmp_path)

        report = run_sweep(logged_tasks(tmp_path), folder, executor=executor, done=kill_the_other)
    assert report == SweepReport(ran=3, found=3)
    assert log(tmp_path) == Counter([*range(6), 3])


@pytest.mark.agreement
@pytest.mark.linux
def test_a_killed_worker_is_told_and_what_had_ended_is_kept(tmp_path):
    (tmp_path / "deadly").touch()
    tasks = [Task(functions.dies_on_three, number=n, folder=str(tmp_path)) for n in range(6)]
    with pytest.raises(ChildProcessError, match="a worker process was killed"):
        run_sweep(tasks, tmp_path / "parts", executor=all_cores(2))
    (tmp_path / "deadly").unlink()
    kept = finished_tasks(tmp_path / "parts").keys()
    assert tasks[3].id not in kept
    assert run_sweep(tasks, tmp_path / "parts", executor=one_by_one) == SweepReport(ran=6 - len(kept), found=len(kept))


def test_silent_when_standard_error_is_no_terminal(tmp_path, capfd):
    run_sweep(SQUARES, tmp_path, executor=one_by_one)
    assert capfd.readouterr() == ("", "")


def test_what_a_killed_run_left_half_written_is_no_part(tmp_path):
    """A part is written under a name with a dot in front and renamed when it is whole."""
    (tmp_path / ".x.parquet").write_bytes(b"PAR1 garbage")
    half_written = tmp_path / ".y.parquet.1-abc.part"
    half_written.touch()
    assert run_sweep(SQUARES[:2], tmp_path, executor=one_by_one) == SweepReport(ran=2, found=0)
    assert not half_written.exists()
    assert run_sweep(SQUARES[:2], tmp_path, executor=one_by_one) == SweepReport(ran=0, found=2)
    assert set(merge([tmp_path])["square"]) == {0, 1}
    assert sorted(part_files(tmp_path)) == sorted(tmp_path / f"{task.id}.parquet" for task in SQUARES[:2])


def foreign_file(folder):
    pq.write_table(pa.table({"a": [1]}), folder / "foreign.parquet")


def broken_file(folder):
    (folder / "broken.parquet").write_text("no parquet")


@pytest.mark.parametrize(("make", "told"), [(foreign_file, "carries no manifest"), (broken_file, "no Parquet file")])
def test_a_strange_file_in_the_folder_is_told(make, told, tmp_path):
    make(tmp_path)
    with pytest.raises(ParameterError, match=told):
        run_sweep(SQUARES, tmp_path, executor=one_by_one)


def test_bad_input_of_a_task_is_told_in_one_line(tmp_path):
    tasks = tasks_of("refuses_negative", number=(1, -1))
    with pytest.raises(ParameterError, match=r"^number = -1, but it must not be negative$"):
        run_sweep(tasks, tmp_path, executor=one_by_one)
    assert finished_tasks(tmp_path).keys() == {tasks[0].id}
    with pytest.raises(SweepError, match="2 of 2 tasks failed"):
        run_sweep([tasks[1], *tasks_of("fails_on_odd", number=[1])], tmp_path, executor=one_by_one)


def test_done_is_told_which_tasks_have_ended(tmp_path):
    ended = []
    run_sweep(SQUARES, tmp_path, executor=one_by_one, tasks_per_file=3, done=ended.append)
    assert ended == [SQUARES[:3], SQUARES[3:6], SQUARES[6:]]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda folder: run_sweep([*SQUARES, SQUARES[0]], folder), "1 tasks are there twice"),
        (lambda folder: run_sweep(SQUARES, folder, tasks_per_file=0), "tasks_per_file = 0"),
        (lambda folder: run_sweep(SQUARES, Path(__file__)), "is a file"),
        (
            lambda folder: run_sweep(SQUARES, folder, executor=all_cores(0)),
            "jobs = 0, but it must be",
        ),
        (lambda folder: all_cores(1.5), "jobs = 1.5, but it must be a whole number"),
        (lambda folder: run_sweep(SQUARES, folder, budget_s=float("nan")), "budget_s = nan"),
        (lambda folder: run_sweep(SQUARES, folder, budget_s=-1.0), "budget_s = -1"),
        (lambda folder: merge([folder]), "nothing to merge"),
        (lambda folder: merge([folder / "nowhere"]), "does not exist"),
        (lambda folder: Task(dict, load=0.5), '@measurement."dict", revision=1. before'),
        (lambda folder: measurement("", revision=1), "name is empty"),
        (lambda folder: measurement("a", revision=0), "revision = 0"),
        (lambda folder: Task(functions.square, x=object()), "object object"),
        (lambda folder: Task(functions.square, x=float("nan")), "finite Python numbers"),
    ],
)
def test_bad_input_is_told(call, told, tmp_path):
    with pytest.raises(ParameterError, match=told):
        call(tmp_path)


def test_a_result_that_is_no_table_is_told(tmp_path):
    with pytest.raises(ParameterError, match="returned list"):
        run_sweep(tasks_of("no_rows", number=[1]), tmp_path, executor=one_by_one)


def test_rows_of_a_function_typed_into_an_interpreter_are_gathered(monkeypatch):
    """Its text is in no file; the next one of that name is another one."""
    monkeypatch.setitem(sys.modules, "interpreter", ModuleType("interpreter"))
    typed = {"__name__": "interpreter", "measurement": measurement}
    texts = ("2 * number", "3 * number")
    functions = []
    for text in texts:
        exec(f"@measurement('typed', revision=1)\ndef typed(*, number):\n    return {{'n': {text}}}", typed)
        functions.append(typed["typed"])
    rows = [gather([Task(one, number=3)], executor=one_by_one)["n"].item() for one in functions]
    assert rows == [6, 9]
    assert source_digest(functions[0]) != source_digest(functions[1])
