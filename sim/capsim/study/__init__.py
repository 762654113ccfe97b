"""Studies: runs at the points of axes, what is claimed about them, and how that is decided.

================ ==================================================================================
Module           Holds
================ ==================================================================================
`file`           the keys of its file
`template`       arithmetic in braces
`points`         what is run at each point, in every setting, and the ids of the runs
`measures`       measurements by name, and the tasks that runs are
`scheme_runs`    the measurement of any study, tables of its metrics
`metrics`        the numbers that describe a run: name, unit, function of the result
`claims`         what claims compare, and the verdict on each: a package of its own
`kept_runs`      the runs in a folder, and about what others will take
`campaign`       which runs come next, and where all claims stand
`study`          a study that is run: its rows, flows, verdicts, tables and pictures
`texts`          means and claims in lines and cells
`verdict_tables` verdicts as rows, cells and LaTeX, by setting too
`comparison`     several schemes on the same flows: a study with one axis
`plot`           panels with intervals and what is printed
================ ==================================================================================

From a file to the verdict on a claim:

========================================= ========================================================================
Function                                  Gives
========================================= ========================================================================
`file.read_study`                         the keys as structs, with those of the studies that it extends
`claims.design.Design.comparisons`        which points the claim compares, and with which weights
`points.Runs.described`, `Runs.arguments` the scenario of a point in a setting: templates filled, parameters set
`points.Runs.tasks`                       a task for each point and seed (`scheme_runs.run_task`); equal runs, one id
`study.Study.run_in`                      rows in a folder: fixed numbers of seeds, then what claims wait for
`campaign.advance`, `Campaign.next_looks` the runs of the next interim analyses of open claims, until none is left
`claims.samples.Statement.samples`        a value for each seed at each point: differences, or logarithms of ratios
`claims.relations.Relation.of_ratio`      what its interval must be, `relations.Says`; of a single value `of_value`
`claims.decide.decide`                    the verdict by these samples, `decide.Decision`
`claims.looks.judged`                     the decision at the last interim analysis that is there, `looks.Judged`
`campaign.Campaign.verdict`               the verdict in the setting of the text, by a second set of seeds if it
                                          fails and by other settings: :class:`campaign.Verdict`
========================================= ========================================================================

The verdicts are those of :mod:`capsmodel.experiments.words`; the ledger of the papers
(:mod:`capsmodel.papers.ledger`) records the verdicts of the studies that come with the package.
"""
