"""Item pipelines, in order: validate, upsert, price history, drift. One file each.

The first decides, the next two add their step to the transaction of a batch, the last one counts.
"""
