"""Item pipelines, one per file, in the order of ITEM_PIPELINES.

The last one passes each item to the writer thread, which calls `write` of every pipeline, one transaction per
batch. SQL is in `store`, decisions are in `rules`.
"""
