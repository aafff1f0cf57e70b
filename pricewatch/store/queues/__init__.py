"""The job queue, the target queue, their leases, the nodes of the cluster and the state of the dispatcher.

`rules` decides what is due; these modules only read and write the tables.
"""
