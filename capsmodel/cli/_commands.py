"""Every command: where its function lives, its group, what it does in a line, and examples, which the tests run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    Attributes
    ----------
    name, group, help
        What the user types, where help lists it, and what it does.
    place
        ``module:function`` in :mod:`capsmodel.cli`; the module is imported only when the command is called.
    examples
        Lines to type.
    notes
        What else there is to know, printed before the examples.
    """

    name: str
    group: str
    place: str
    help: str
    examples: tuple[str, ...]
    notes: str = ""

    @property
    def epilogue(self) -> str:
        """Return the examples as help shows them."""
        return self.notes + "\n".join(["Examples:", *(f"  $ capsmodel {line}" for line in self.examples)])


_FIRST, _SIMULATOR, _FORMULAS = "To begin with", "Simulator", "Formulas"
_CODEC, _PAPERS = "Codec", "The papers"

CODEC = Command(
    "codec",
    _CODEC,
    "codec:app",
    "Code a file into packets, decode it, look into packets, measure losses and speed.",
    (
        "codec encode file.bin --k 32 --r 8 --out coded.caps",
        "codec simulate-loss coded.caps --blocking-prob 0.1",
        "codec decode coded.caps --out copy.bin",
        "codec encode file.bin --repair-only --out beside.caps",
        "codec decode beside.caps --original file.bin --out restored.bin",
        "codec bench --k 64 --r 7 --packet-size 1500B",
    ),
)

COMMANDS = (
    Command(
        "demo",
        _FIRST,
        "demo:demo",
        "Show each part of the package once, on a page with tables and figures.",
        ("demo", "demo --quick --out tour"),
    ),
    Command(
        "notebooks",
        _FIRST,
        "catalogue:notebooks",
        "List the notebooks of the course, or copy them into a folder, to run and change them.",
        ("notebooks", "notebooks course"),
    ),
    Command(
        "simulate",
        _SIMULATOR,
        "simulate:simulate",
        "Simulate one scenario packet by packet.",
        (
            "simulate p64",
            "simulate --fabric leaf-spine:4x8x4 --load 0.6 --scheme caps",
            "simulate p64 --fail leaf0-spine1@9ms --probe flow0 --out DIR",
            "simulate p64 --scheme rps --set transport.min_rto_s=10ms",
        ),
    ),
    Command(
        "compare",
        _SIMULATOR,
        "compare:compare",
        "Run schemes on the same flows and compare them with confidence intervals.",
        (
            "compare websearch-load-60 --schemes ecmp,caps --seeds 5 --out DIR",
            "compare --fabric leaf-spine:2x2x2 --flows 99 --schemes ecmp,rps",
        ),
    ),
    Command(
        "estimate",
        _SIMULATOR,
        "estimate:estimate",
        "Completion times of a large fabric from a few of its leaves or pods.",
        (
            "estimate --fabric leaf-spine:16x4x4 --flows 800 --schemes ecmp,rps",
            "estimate --fabric fat-tree:16 --profile 100g --schemes uet --costs",
        ),
    ),
    Command(
        "study",
        _SIMULATOR,
        "study:study",
        "Run a study: schemes, loads and any parameter, and decide what is claimed.",
        (
            "study mine.toml --new",
            "study mine.toml --expand",
            "study mine.toml --out DIR --shard 1/4",
            "study mine.toml --out DIR --cluster tcp://head:8786",
            "study caps-fig17",
            "study mmptcp-t3-tcp-fct --set transport.min_rto_s=1s --seeds 8",
            "study --list",
        ),
    ),
    Command(
        "merge",
        _SIMULATOR,
        "study:merge",
        "Put the shards of a study together.",
        ("merge study.toml shard1 shard2 --out DIR",),
    ),
    Command(
        "rerun",
        _SIMULATOR,
        "simulate:rerun",
        "Run a result again from its manifest and compare bit for bit.",
        ("rerun run/flows.parquet",),
    ),
    Command(
        "schemes",
        _SIMULATOR,
        "schemes:schemes",
        "List the schemes, or what one is made of, and its parameters.",
        ("schemes", "schemes caps", "schemes caps layer"),
    ),
    Command(
        "presets",
        _SIMULATOR,
        "catalogue:presets",
        "List the scenarios that come with the package, or print one as a file.",
        ("presets", "presets p64"),
    ),
    Command(
        "workloads",
        _SIMULATOR,
        "catalogue:workloads",
        "List the flow-size distributions, or the points of one.",
        ("workloads", "workloads websearch", "workloads mine.csv"),
    ),
    Command(
        "optimal-k",
        _FORMULAS,
        "units.optimal_k:optimal_k",
        "Find the coding unit (k source, r repair packets) of least delay of a window.",
        (
            "optimal-k 64 --blocking-prob 0.2,5/16 --rate 1Gbps --rtt-long 3ms",
            "optimal-k 64 --paths 40 --blocked-paths 8 --plot delay.png",
            "optimal-k 64 --blocking-prob 0.2 --simulate",
        ),
    ),
    Command(
        "choose-unit",
        _FORMULAS,
        "units.choose_unit:choose_unit",
        "Choose a coding unit that fails seldom enough: unequal paths, deadlines.",
        ("choose-unit 128 --blocking-prob 0.01 --failure-prob 1e-6",),
    ),
    Command(
        "decode-prob",
        _FORMULAS,
        "closed_forms:decode_probability",
        "Print the probability that a coding unit decodes.",
        (
            "decode-prob 10,20 --blocking-prob 0.1,0.2",
            "decode-prob 10 --r 2 --code rlnc",
            "decode-prob 20 --r 4 --blocking-prob .01 --burst 5 --interleave 9",
        ),
    ),
    Command(
        "redundancy",
        _FORMULAS,
        "closed_forms:redundancy",
        "Print the repair packets a unit needs and their share of traffic.",
        (
            "redundancy 10,40 --blocking-prob 0.1 --target-prob 0.999",
            "redundancy 64 --blocking-prob 0.01 --failure-prob 1e-12",
        ),
    ),
    Command(
        "reordering",
        _FORMULAS,
        "closed_forms:reordering",
        "Print how likely a sprayed flow is reordered.",
        ("reordering 10,20 --paths 8 --blocked-paths 1,2",),
    ),
    Command(
        "fct",
        _FORMULAS,
        "closed_forms:fct",
        "Print normalised flow completion times with and without replication.",
        ("fct 0.2,0.6 --workload datamining --replicas 2",),
    ),
    Command(
        "predict",
        _FORMULAS,
        "predict:predict",
        "Print completion times of schemes on a fabric, without packets.",
        (
            "predict --profile 100g --schemes uet,dctcp --nic round_robin",
            "predict websearch-load-60 --schemes ecmp,dctcp --explain",
            "predict --schemes dctcp --loads .3 --check .3 --flows 99",
        ),
        "A number behind > is a bound: flows take longer. derived: nothing in it was\nfitted to packets; fitted: "
        "some constants were.\n\n",
    ),
    CODEC,
    Command(
        "gallery",
        _PAPERS,
        "gallery:gallery",
        "Draw every figure and study beside what the papers print, on one page.",
        ("gallery", "gallery caps-fig9b --plot delay.pdf", "gallery --paper repflow --out page"),
        "The page is one file of about 10 MB without scripts; half a minute. Nothing is\nsimulated for it: figures are "
        "drawn from closed forms, studies from the recorded\nverdicts. study computes these again.\n\n",
    ),
    Command(
        "claims",
        _PAPERS,
        "equations:claims",
        "Show which published claims hold, differ or fail, and why.",
        ("claims --verdict fails", "claims caps-f17a-rps", "claims --totals"),
    ),
    Command(
        "equations",
        _PAPERS,
        "equations:equations",
        "List every equation of the papers and the functions that compute it.",
        ("equations --paper caps", "equations --paper repflow --latex"),
    ),
    Command(
        "cite",
        _PAPERS,
        "equations:cite",
        "Print references to the papers, or to what a run used.",
        ("cite", "cite --paper caps --style text", "cite out/flows.parquet"),
    ),
)
