"""Contract: bad input ends in one line that names the value and the rule, exit status 2, and no traceback."""

import pytest
from cli.commands import refused

from capsmodel.cli import app

BAD = [
    ("optimal-k 0", "window_packets = 0"),
    ("optimal-k --blocking-prob 1", "blocking_prob = 1"),
    ("optimal-k --blocking-prob 20", "20 is no probability: 20% is 0.2"),
    ("optimal-k --blocking-prob 0.1,20%", "20% is no probability: 20% is 0.2; separate several by commas"),
    ("optimal-k --paths 40 --blocked-paths 8 --blocking-prob 0.2", "--blocking-prob and --paths exclude each other"),
    ("choose-unit --blocking-prob 1% --failure-prob 1e-6", "1% is no probability: 1% is 0.01"),
    ("choose-unit --blocking-prob 0.1 --failure-prob 0.0001%", "0.0001% is no probability: 0.0001% is 1e-06"),
    ("decode-prob --blocking-prob 20", "20 is no probability: 20% is 0.2"),
    ("redundancy --target-prob 99", "99 is no probability: 99% is 0.99"),
    ("reordering --congested-prob 50", "50 is no probability: 50% is 0.5"),
    ("fct 60", "60 is no load: 60% is 0.6"),
    ("fct --byte-share 30%", "30% is no probability: 30% is 0.3"),
    ("codec simulate-loss nothing.caps --blocking-prob 10", "10 is no probability: 10% is 0.1"),
    ("optimal-k --blocking-prob -0.1", "blocking_prob = -0.1"),
    ("optimal-k --blocking-prob nan", "blocking_prob = nan"),
    (
        "optimal-k --blocking-prob many",
        "'many' is not a number: write a number or a fraction, as in 0.2 or 5/16; separate several by commas",
    ),
    ("optimal-k --rtt-short 5ms", "rtt_long_s"),
    ("optimal-k --rate 1Gb", "'1Gb' is not a rate"),
    ("optimal-k --rtt-long 100", "'100' is not a time"),
    ("optimal-k --packet-size 1.5B", "whole number of bytes"),
    ("optimal-k --packet-size 0B", "packet_bytes = 0"),
    ("optimal-k --blocking-prob 1/0", "'1/0' is not a number"),
    ("optimal-k --paths 40", "--blocked-paths"),
    ("optimal-k --paths 0 --blocked-paths 0", "--paths = 0, but it must be at least 1"),
    ("optimal-k 64 --plot curve.xyz", "curve.xyz has no known figure suffix: use .png, .pdf or .svg"),
    ("optimal-k 64 --plot nowhere/curve.png", "nowhere is no folder"),
    ("optimal-k --blocking-prob ,", "',' holds no number: give at least one; separate several by commas"),
    ("optimal-k --paths 4 --blocked-paths 4", "--blocked-paths = 4"),
    ("optimal-k --json --csv", "--json and --csv exclude each other"),
    ("optimal-k --simulate --packet-size 9000B", "--packet-size 9000B"),
    ("optimal-k --simulate --rtt-long 5ms", "--rtt-long 5ms"),
    ("optimal-k 300 --simulate", "a window of 300 packets"),
    ("optimal-k --max-k 0", "max_k = 0"),
    ("optimal-k --objective best", "--objective"),
    ("optimal-k --plot nowhere/at/all.png", "nowhere/at"),
    ("optimal-k --nosuch", "Unknown option: --nosuch: capsmodel optimal-k --help shows what it takes"),
    ("optimal-k 64 --nosuch", "Unknown option: --nosuch: capsmodel optimal-k --help shows what it takes"),
    ("optimal-k 64 --rtt-shor 1ms", "Unknown option: --rtt-shor. Did you mean --rtt-short?\n"),
    ("optimal-k -5", "window_packets = -5"),
    (
        "schemes caps transport extra",
        "capsmodel: unexpected argument extra: capsmodel schemes --help shows what it takes",
    ),
    ("codec decode", "parameter FILE requires an argument: capsmodel codec decode --help shows what it takes"),
    ("decode-prob 0", "k = 0"),
    ("decode-prob 9007199254740993", "k = 9.0072e+15, but it must be a whole number of at least 1 and below 2^53"),
    ("decode-prob 2.5", "'2.5' is not a whole number"),
    (f"decode-prob {5000 * '9'}", "'999999999999...9999999999999' is not a whole number below 2^63"),
    ("decode-prob 1e400", "'1e400' is not a whole number below 2^63"),
    ("optimal-k 8.6", "'8.6' is not a whole number"),
    ("reordering 10 --dup-acks 2.7", "'2.7' is not a whole number"),
    ("compare websearch-load-60 --seeds 2.4", "'2.4' is not a whole number"),
    ("compare websearch-load-60 --seeds x", "'x' is not a whole number below 2^63: write one, as in 1000\n"),
    ("compare websearch-load-60 --seeds 2,3", "'2,3' is not a whole number below 2^63: write one, as in 1000\n"),
    ("decode-prob 1;2", "'1;2' is not a whole number below 2^63: write one, as in 1000; separate several by commas"),
    ("redundancy 10 --target-prob x", "'x' is not a number: write a number or a fraction, as in 0.2 or 5/16\n"),
    ("simulate --flows 9.6", "'9.6' is not a whole number"),
    ("decode-prob 10 --blocking-prob 1.5", "1.5 is no probability: 1.5% is 0.015"),
    ("decode-prob 10 --r -1", "r = -1"),
    ("decode-prob ,", "',' holds no number"),
    ("decode-prob --r ,", "',' holds no number"),
    ("redundancy --blocking-prob ,", "',' holds no number"),
    ("redundancy 10 --target-prob 1", "target_prob = 1"),
    ("redundancy 10 --long-short-ratio -1", "long_short_ratio = -1"),
    ("reordering 0", "flow_packets = 0"),
    ("reordering , --csv", "',' holds no number"),
    ("reordering 10 --paths 4", "--paths and --blocked-paths go together"),
    ("reordering 10 --blocked-paths 4", "--paths and --blocked-paths go together"),
    ("reordering 10 --paths 0 --blocked-paths 0", "--paths = 0, but it must be at least 1"),
    ("reordering 10 --paths 4 --blocked-paths 5", "0..4"),
    ("fct 1", "load = 1"),
    ("fct ,", "',' holds no number"),
    ("fct --workload nosuch", "nosuch"),
    ("fct --workload nosuch.csv", "nosuch.csv"),
    ("fct --replicas 0", "replicas = 0"),
    ("simulate websearch-load-60 --trace drops", "--trace is kept in DIR"),
    ("simulate websearch-load-60 --load 60", "--load = 60, but it must be from 1e-09 to 10 of the capacity: it is the"),
    ("simulate websearch-load-60 --load -1", "--load = -1, but it must be from 1e-09 to 10 of the capacity"),
    ("simulate websearch-load-60 --load 60%", "60% is no load: 60% is 0.6"),
    ("compare websearch-load-60 --flows 0", "--flows = 0, but a run needs at least 1"),
    ("simulate websearch-load-60 --rate -1Gbps", "'-1Gbps' is not a rate"),
    ("study nosuch", "no study, figure or claim 'nosuch' is simulated: capsmodel study --list shows all"),
    ("study caps-leafspin", "did you mean caps-leafspine"),
    ("study caps-fig9", "did you mean caps-fig9"),
    ("study caps-e12-overhead", "caps-e12-overhead is not simulated: capsmodel claims --paper caps says what decides"),
    ("study caps-overhead", "caps-overhead is not simulated: capsmodel claims --paper caps says what decides"),
    ("study repflow-f1-mean", "no run decides repflow-f1-mean: capsmodel claims repflow-f1-mean says what does"),
    ("study", "name a file, a study, a figure or a claim, as in spray or caps-fig17; --list shows them"),
    ("study nosuch --list", "--list shows all names: give it alone"),
    ("study --list --costs", "--list shows all names: give it alone"),
    ("study --list --quick", "--list shows all names: give it alone"),
    ("study --list --budget 1h", "--list shows all names: give it alone"),
    ("study --list --jobs -1", "--list shows all names: give it alone"),
    ("study --list --shard 1/1", "--list shows all names: give it alone"),
    ("study --list --metrics mean_fct_short_s", "--list shows all names: give it alone"),
    ("study --list --out DIR", "--list shows all names: give it alone"),
    ("study --list --set transport.min_rto_s=1s", "--list shows all names: give it alone"),
    ("study caps-cloud --costs --expand", "--expand and --costs exclude each other: give one"),
    ("study caps-cloud --check --quick", "--check and --quick exclude each other: give one"),
    ("study caps-cloud --reduced --quick", "--quick and --reduced exclude each other: give one"),
    ("study caps-cloud --costs --shard 1/1", "--costs makes few runs or none: leave out --budget and --shard"),
    ("study caps-cloud --costs --jobs -1", "--costs makes no run: leave out --jobs and --cluster"),
    ("study caps-cloud --expand --budget 1h", "--expand makes few runs or none: leave out --budget and --shard"),
    ("study caps-cloud --quick --budget 1h", "--quick makes few runs or none: leave out --budget and --shard"),
    ("study caps-cloud --shard 1/0", "--shard 1/0: there is no share of none, write I/N with N of at least 1"),
    ("study caps-cloud --quick --shard 2/3", "--quick makes few runs or none: leave out --budget and --shard"),
    (
        "study caps-fig9a",
        "caps-fig9a is a figure of formulas, which no run decides: capsmodel gallery caps-fig9a",
    ),
    ("study caps-f9a-r --costs", "no run decides caps-f9a-r: capsmodel claims caps-f9a-r says what does"),
    ("gallery caps-fig99", "no figure, study or claim 'caps-fig99' of the papers: did you mean caps-fig9"),
    ("gallery caps-fig9a --paper caps", "caps-fig9a is of one paper: leave out --paper"),
    ("gallery --plot all.png", "--plot takes one picture: name it, as in capsmodel gallery caps-fig9b"),
    ("gallery caps-fig9a --plot x.txt", "x.txt has no known figure suffix"),
    ("gallery caps-fig9a --plot x.gif", "x.gif has no known figure suffix: use .png, .pdf or .svg"),
    ("codec encode missing.bin --out x.caps", "missing.bin: No such file or directory: check its name and folder"),
    ("study caps-ps-sim --jobs 2 --cluster tcp://127.0.0.1:1", "--jobs and --cluster exclude each other: give one"),
    ("study caps-ps-sim --quick --jobs 0", "jobs = 0"),
    ("study caps-ps-sim --quick --cluster tcp://127.0.0.1:1", "no Dask scheduler at tcp://127.0.0.1:1"),
    ("study caps-cloud --budget nanh", "'nanh' is no length of time"),
    ("study caps-cloud --budget -1h", "'-1h' is no length of time"),
    ("study caps-cloud --budget 5", "'5' is no length of time: write a number from 0 on with h, min or s, as in 2h"),
    ("study caps-cloud --budget xh", "'xh' is no length of time"),
    ("study caps-cloud --set nosuch=1", "nosuch is neither a name of caps-cloud nor a setting"),
    ("claims caps-f17a-rp", "no claim, figure or study 'caps-f17a-rp': did you mean caps-f17a-rps"),
    ("claims repflow", "no claim, figure or study 'repflow': capsmodel claims --paper repflow lists those of"),
    ("claims caps-f17a-rps --paper caps", "all that is known of caps-f17a-rps is printed: give the name alone"),
    ("claims --by-setting", "--by-setting looks at the runs of a study: name it, or a claim"),
    ("claims --by-setting nosuch", "no study, figure or claim 'nosuch'"),
    ("claims --plot fig.pdf", "--plot goes with --by-setting: it draws the verdicts by settings"),
    ("claims --by-setting repflow-overhead --plot fig.xyz", "fig.xyz has no known figure suffix"),
    ("claims --by-setting --totals caps-cloud", "give one of them"),
    ("claims --totals --depends-on", "give one of them"),
    ("equations --paper nosuch", "nosuch"),
    ("equations --numbers --latex", "--numbers lists claims, --latex adds formulas to equations: give one of them"),
    ("claims --verdict nosuch", "nosuch"),
    ("schemes nosuch", "nosuch"),
    ("presets nosuch", "nosuch"),
    ("workloads nosuch", "nosuch"),
    ("workloads nosuch.csv", "nosuch.csv"),
    ("nosuch", "nosuch"),
]


def test_one_clear_line_and_exit_status_2(subtests, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a line that is refused late may have made the folder out
    for line, message in BAD:
        with subtests.test(line=line):
            assert message in refused(line, capsys)


@pytest.mark.linux
def test_a_picture_in_a_folder_that_takes_no_files_is_refused(capsys):
    message = "/proc/curve.png: No such file or directory"
    assert message in refused("optimal-k --plot /proc/curve.png", capsys)


def commands(group):
    """Yield the applications of a group of commands that run something."""
    for name in group:
        if not name.startswith("-"):
            yield from [group[name]] if group[name].default_command else commands(group[name])


def test_every_whole_number_has_a_reader_of_its_own():
    """The framework would round: 2.7 would be 3, without a word."""
    options = [option for command in commands(app) for option in command.assemble_argument_collection()]
    counts = [option for option in options if "int" in str(option.hint)]
    assert len(counts) > 30
    assert [option.name for option in counts if option.parameter.converter is None] == []
