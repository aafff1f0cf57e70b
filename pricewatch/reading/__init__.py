"""Reading pages within limits of time and memory: in the main thread with a deadline, or in a reader process.

Only the limits, the deadline, and the reader processes with their messages; no database, no spiders, no web.
"""
