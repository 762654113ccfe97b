"""Tasks of a study are made once for each point, when they are asked for, and are those of any other way."""

import pytest

from capsim.study.measures import TaskList
from capsmodel.checks import ParameterError
from capsmodel.experiments.manifest import SCHEMA, content_id
from capsmodel.experiments.measurement import measurement
from capsmodel.experiments.sweep import Task

A, B = ("a", "here"), ("b", "there")


@measurement("a dr\u00e4wn \0", revision=3)
def drawn(**arguments):
    return arguments


def test_a_task_of_each_point_and_seed():
    asked = []

    def made(term, seed):
        asked.append(term)
        return Task(drawn, term=term, seed=seed)

    tasks = TaskList([B, A], range(1, 4), made)
    assert (list(tasks), len(tasks)) == ([(term, seed) for term in (B, A) for seed in (1, 2, 3)], 6)
    assert asked == []
    assert {key: task.id for key, task in tasks.of_seeds({2, 9})} == {
        (term, 2): Task(drawn, term=term, seed=2).id for term in (A, B)
    }
    assert tasks[A, 3].payload == {"term": list(A), "seed": 3}
    assert tasks[A, 3] is tasks[A, 3]
    assert asked == [B, A]


@pytest.mark.parametrize("key", [(A, 4), (B, 1)])
def test_no_task_of_others(key):
    tasks = TaskList([A], range(1, 4), lambda term, seed: Task(drawn, seed=seed))
    assert key not in tasks


def test_the_id_is_that_of_the_content(subtests):
    """Whatever the arguments are called, a seed's place among them included."""
    cases = [{}, {"zero": "\0", "a": {"seed": 1, "\u00e9": [1e-5, 1e22, None]}}, {"Z": (1, 2), "seeds": 2**70}]
    for arguments in cases:
        with subtests.test(arguments=arguments):
            asked = {"measurement": "a dr\u00e4wn \0", "revision": 3}
            for task in (
                Task(drawn, **arguments),
                Task(drawn, **arguments, seed=1),
                Task(drawn, **arguments, seed=1).with_seed(5),
            ):
                assert task.id == content_id({"schema": SCHEMA, "task": asked | {"payload": task.payload}})
            assert task == Task(drawn, **arguments, seed=5)


def test_a_task_without_a_seed_has_no_other_one():
    with pytest.raises(ParameterError, match="has no seed: give it one first"):
        Task(drawn, load=0.5).with_seed(2)
