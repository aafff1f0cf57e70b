"""The way out to a site and back: one component a file, each switched off by `NotConfigured`.

They decide nothing themselves (that is `rules`) and hold no SQL (that is `store`); what several of them need
of a crawl is made once and shared (`shared.py`). What can go wrong is listed in `failures.py`.
"""
