"""Item pipelines, one per file. Each may process an item in `process_item`; the last one passes it to the
writer, whose thread calls `write` of each pipeline in the order of ITEM_PIPELINES, one transaction per batch.
SQL belongs in `store`.
"""
