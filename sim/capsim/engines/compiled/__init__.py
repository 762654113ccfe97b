"""The compiled engine: one event loop for all schemes.

=============== =================================================================
Module          Holds
=============== =================================================================
`engine`        runs the loop, piece by piece
`loop`          the event loop
`links`         ports: serialisation, queues, links that fail
`order`         which event is next
`packets`       the packet pool, the packet trace, the loss of packets
`world`         the arrays of a run and the record of their addresses
`sampling`      samples of fields
`pointers`      records of addresses, and functions that read a record there
`tables`        tables, own state and hooks under the names of `primitives`
`bind`          the shared code of hosts and switches, with these names
`layout`        records and tables, and the numbers that Python and the loop agree on
`functions`     the loop and the hooks as machine code, and the keys of these
`machine_code`  machine code on disk, and how it is loaded and called
`jit`           how functions are compiled
`numba_types`   the types of records and hooks, and what LLVM is told of fields
`refusals`      refuses what hooks must not return or write
=============== =================================================================
"""
