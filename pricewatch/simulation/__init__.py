"""Simulated weeks of crawling the sample marketplace, and the smoke test.

`market_simulation` moves the clock, runs the spiders and orders the habits of `habit_plan`; `stored_state`
reads the database afterwards; `listing_audit` and `run_audit` compare it with the truth. `smoke_rounds` and
`smoke_checks` are the smoke test. Nothing that a crawl needs lives here.
"""
