"""Scrapy extensions: the run, metrics, progress, feeds and the sample marketplace.

They follow a crawl by its signals. Code that processes items is in `pipelines`; SQL is in `store`.
"""
