"""Results of a run.

=============== =================================================================
Module          Holds
=============== =================================================================
`result`        tables, summary and completion times; saved and loaded
`tables`        from an engine's records to tidy tables in SI units
`summary`       a run in the numbers that the papers report; links by layer
`fct`           completion times: by size, by percentile, as a distribution
`ideal`         least completion times, which slowdowns are measured against
`conservation`  what every run must satisfy: nothing appears, nothing vanishes
`trace`, `pcap` the packet trace, to be read and to be opened in Wireshark
`manifest`      where a result comes from
`files`         Parquet files, folders that appear whole or not at all
=============== =================================================================
"""
