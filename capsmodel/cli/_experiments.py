"""What ``capsmodel reproduce`` does with an experiment: run it until its claims are decided, and say how they stand."""

from collections.abc import Sequence
from pathlib import Path

from capsmodel.cli._claim_texts import claim_text, counted, skewed
from capsmodel.cli._output import explain, say, write_whole
from capsmodel.experiments.executors import Executor
from capsmodel.experiments.manifest import table_csv
from capsmodel.experiments.progress import Progress
from capsmodel.experiments.sweep import gather
from capsmodel.papers.advance import advance
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.figures._by_setting import draw_by_setting
from capsmodel.papers.index import read_claims
from capsmodel.papers.settings import TEXT
from capsmodel.papers.verdicts import VERDICT_WORDS
from capsmodel.plotting import can_draw, save_figure

RESULTS = "results"
_FIRST = "the first run of a scheme compiles it: up to 2 min"


def try_out(experiment: PublishedExperiment, out: Path, executor: Executor) -> None:
    """Run the small version of an experiment and write its rows: it shows that all of it works, and judges nothing."""
    tasks = experiment.quick_tasks()
    progress = Progress(label=experiment.name, first=_FIRST)
    rows = gather(list(tasks.values()), out / RESULTS, executor=executor, progress=progress)
    file = out / f"{experiment.name}-quick.csv"
    write_whole(file, table_csv(rows.drop(columns="cpu_s", errors="ignore")))
    say(f"wrote {file}")
    explain(f"{experiment.name}: {len(rows)} small runs; they judge no claim. Run it without --quick to decide claims.")


def reproduce_experiments(
    experiments: Sequence[PublishedExperiment],
    out: Path,
    *,
    budget_s: float,
    shard: tuple[int, int],
    executor: Executor,
) -> None:
    """Add runs until the claims are decided or the time is over; print the verdicts and what they hang on."""
    label = experiments[0].name if len(experiments) == 1 else f"{len(experiments)} experiments"
    progress = Progress(first=_FIRST, log=True)
    made = advance(experiments, out / RESULTS, budget_s=budget_s, shard=shard, executor=executor, progress=progress)
    if shard != (1, 1):
        explain(
            f"Shard {shard[0]} of {shard[1]}: {made} runs made. Put the files of all folders {RESULTS} together in "
            "one, and give the same command again for the next look, or without --shard for the verdicts."
        )
        return
    explain(f"{label}: {made} runs made now.")
    for experiment in experiments:
        campaign = Campaign(experiment, out / RESULTS)
        for file in _write(campaign, out):
            say(f"wrote {file}")
        _tell(campaign)


def _write(campaign: Campaign, out: Path) -> list[Path]:
    if campaign.frame.empty:
        return []
    files = [out / f"{campaign.experiment.name}.csv"]
    write_whole(files[0], table_csv(campaign.frame))
    if can_draw():
        files.append(out / f"{campaign.experiment.name}-settings.png")
        words = {claim: campaign.words(claim) for claim in campaign.experiment.statements}
        save_figure(draw_by_setting(campaign.experiment.name, words), files[-1])
    return files


def _tell(campaign: Campaign) -> None:
    verdicts = [campaign.verdict(claim) for claim in campaign.experiment.statements]
    for verdict in verdicts:
        say("", f"{verdict.id}: {verdict.verdict}, {campaign.robustness(verdict.id).beside(verdict.verdict)}")
        found = campaign.judged(verdict.id, TEXT, sampled=False).decision.skewness.values()
        told = [skewed(min(found), max(found))] if found else []
        explain(*claim_text(read_claims()[verdict.id], verdict), *told, indent=2)
    words = counted([verdict.verdict for verdict in verdicts], VERDICT_WORDS)
    rest = len(campaign.next_tasks())
    more = f"; {rest} runs are missing for the next look: give the same command again" if rest else ""
    explain("", f"{campaign.experiment.name}: of {len(verdicts)} claims {words}{more}.")
