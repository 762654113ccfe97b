"""Property: a sweep on a Dask cluster stores what one process would store, and what the cluster refuses is one line."""

import socket
from threading import Thread

import pandas as pd
import pytest
from distributed import CancelledError, KilledWorker, LocalCluster
from experiments import sweep_functions as functions

from capsmodel import ParameterError
from capsmodel.experiments import executors
from capsmodel.experiments.sweep import SweepReport, Task, dask_cluster, merge, one_by_one, run_sweep

SQUARES = [Task(functions.square, number=number) for number in range(7)]


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as local:
        yield local


def test_rows_are_those_of_one_process_and_a_second_call_runs_nothing(cluster, tmp_path):
    run_sweep(SQUARES, tmp_path / "here", executor=one_by_one)
    report = run_sweep(SQUARES, tmp_path / "there", executor=dask_cluster(cluster.scheduler_address, waiting=1))
    assert report == SweepReport(ran=7, found=0)
    pd.testing.assert_frame_equal(merge([tmp_path / "here"]), merge([tmp_path / "there"]))
    again = run_sweep(SQUARES, tmp_path / "there", executor=dask_cluster(cluster.scheduler_address))
    assert again == SweepReport(ran=0, found=7)


def test_the_scheduler_may_be_named_by_its_file(cluster, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(f'{{"address": "{cluster.scheduler_address}"}}')
    assert run_sweep(SQUARES[:2], tmp_path / "parts", executor=dask_cluster(str(file))).ran == 2


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:1", "udp://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_is_one_line(address, tmp_path):
    with pytest.raises(ParameterError, match=rf"^no Dask scheduler at {address}: .+; start one with dask") as told:
        run_sweep(SQUARES, tmp_path, executor=dask_cluster(address))
    assert "Errno" not in str(told.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": "tcp://127.0.0.1:1"}'])
def test_a_file_that_names_no_scheduler_is_one_line(text, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(text)
    with pytest.raises(ParameterError, match=f"no Dask scheduler at {file}"):
        run_sweep(SQUARES, tmp_path / "parts", executor=dask_cluster(str(file)))


def test_nothing_is_asked_of_dask_where_nothing_listens(tmp_path, monkeypatch):
    monkeypatch.setattr("distributed.Client", lambda *args, **kwargs: pytest.fail("it would try again for 10 s"))
    with pytest.raises(ParameterError, match="no Dask scheduler"):
        run_sweep(SQUARES, tmp_path, executor=dask_cluster("tcp://127.0.0.1:1"))


@pytest.fixture
def listener():
    """A socket that accepts connections, as a service of another kind would."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(server):
    return f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_whoever_listens_and_is_silent_is_no_scheduler(listener, tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "_ANSWER_S", 0.2)
    with pytest.raises(ParameterError, match=r"^no Dask scheduler at tcp://.*: nothing answered in 0.2 s; start one"):
        run_sweep(SQUARES, tmp_path, executor=dask_cluster(address_of(listener)))


ANSWERS = {"web": b"HTTP/1.1 400 Bad Request\r\n\r\n", "zeros": bytes(64), "nothing": b"", "ones": b"\xff" * 4096}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_service_of_another_kind_is_no_scheduler(answer, listener, tmp_path, monkeypatch):
    """A web server's words are a length of 10^18 bytes to Dask, which is no reason to ask for less."""
    monkeypatch.setattr(executors, "_ANSWER_S", 0.5)  # Dask connects again and again until then

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(answer)

    Thread(target=serve, daemon=True).start()
    with pytest.raises(ParameterError, match=r"^no Dask scheduler at tcp://127.*; start one with dask scheduler$"):
        run_sweep(SQUARES, tmp_path, executor=dask_cluster(address_of(listener)))


def test_a_worker_is_no_scheduler(cluster, tmp_path):
    worker = next(iter(cluster.workers.values())).address
    with pytest.raises(ParameterError, match=r"no Dask scheduler at .*: a Worker answers there; start one with"):
        run_sweep(SQUARES, tmp_path, executor=dask_cluster(worker))


class LostFuture:
    """What a task becomes whose workers died again and again, or whose scheduler ended."""

    def __init__(self, error):
        self.error = error

    def result(self):
        raise self.error


@pytest.mark.parametrize(
    ("error", "told"),
    [(KilledWorker("task", None, 3), "lost the workers"), (CancelledError("task"), "ended while tasks were running")],
)
def test_a_cluster_that_loses_a_task_is_told(error, told):
    with pytest.raises(ChildProcessError, match=told):
        executors._outcome(LostFuture(error))
