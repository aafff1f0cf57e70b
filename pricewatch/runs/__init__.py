"""The state of one run of a spider: its row and counters, its progress through start pages, its plan.

Spiders, pipelines and extensions share it. SQL is in `store`; Scrapy components are in their own packages.
"""
