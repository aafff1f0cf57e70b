"""`make chaos`: run a cluster on the sample marketplace, inject faults, and check every guarantee.

`chaos_run` controls the run; `fault_injection` has the faults, `cluster` and `node` the daemons, `traffic`
the jobs; `invariants` are checked during the run, and `checks` after it.
"""
