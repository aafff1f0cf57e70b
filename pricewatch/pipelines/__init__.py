"""Item pipelines, one a file. Each looks at an item in `process_item`; the last one hands it to the writer,
whose thread calls `write` of each in the order of ITEM_PIPELINES, in one transaction per batch.
No SQL here: that is `store`'s.
"""
