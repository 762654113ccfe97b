"""Claims of a study: what they compare, and how samples of runs become a verdict.

=========== ===============================================================================
Module      Holds
=========== ===============================================================================
`design`    what claims compare
`samples`   from rows to one value a seed for each point of a claim
`relations` what an interval must be for a claim of each kind
`decide`    from samples to a verdict, at levels that keep its error small
`looks`     when a claim is analysed, in one setting or carried over from a smaller fabric
=========== ===============================================================================

The verdicts are those of :mod:`capsmodel.experiments.words`.
"""
