"""Work that waits: jobs, targets, their leases, the nodes that take them, and the state of the dispatcher.

When something is due is decided in `rules`; these modules only read and write it.
"""
