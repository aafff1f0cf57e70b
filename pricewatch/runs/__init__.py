"""The state of one run of a spider: its row and counters, its progress through start pages, its plan.

Spiders and Scrapy components belong in their own packages.
"""
