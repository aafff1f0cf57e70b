"""`make chaos`: a cluster on the sample marketplace, faults by seed, and what must hold afterwards.

`conductor` leads; `faults` are what it does, `cluster` is whom it does it to, `checks` is what must hold.
"""
