"""Tasks that are made when they are asked for: of all that an experiment may run, a campaign needs few."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from capsmodel.experiments.sweep import Task
from capsmodel.papers.statements import Term

__all__ = ["TaskList"]


class TaskList(Mapping[tuple[Term, int], Task]):
    """A task for each term and seed, in the order of terms.

    Parameters
    ----------
    terms : iterable of Term
        What is run.
    seeds : iterable of int
        With which seeds.
    made : callable
        ``made(term, seed)`` returns a task; it is called once for each term that is asked for.
    """

    def __init__(self, terms: Iterable[Term], seeds: Iterable[int], made: Callable[[Term, int], Task]) -> None:
        self._seeds = dict.fromkeys(seeds)
        self._known: dict[Term, dict[int, Task]] = {term: {} for term in sorted(terms)}
        self._made = made

    def __getitem__(self, key: tuple[Term, int]) -> Task:
        """Return the task of a term and a seed."""
        term, seed = key
        known = self._known[term]
        if seed not in known:
            if seed not in self._seeds:
                raise KeyError(key)
            known[seed] = next(iter(known.values())).with_seed(seed) if known else self._made(term, seed)
        return known[seed]

    def __iter__(self) -> Iterator[tuple[Term, int]]:
        """Yield all terms with all seeds."""
        return ((term, seed) for term in self._known for seed in self._seeds)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._known) * len(self._seeds)

    def of_seeds(self, seeds: Container[int]) -> Iterator[tuple[tuple[Term, int], Task]]:
        """Yield the tasks that have one of some seeds, with term and seed."""
        return ((key, self[key]) for key in self if key[1] in seeds)
