"""Work that waits: jobs, targets, their leases, the nodes that take them, and the dispatcher's state."""
