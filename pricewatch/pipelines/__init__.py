"""Item pipelines, in order: validate, upsert, price history, products, drift. One file each.

The first decides, the next three add their steps to the transaction of a batch, the last one counts.
"""
