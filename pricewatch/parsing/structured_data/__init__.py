"""Machine-readable data of a page: JSON-LD, microdata, RDFa, meta tags and embedded state.

Pure functions that collect; the adapters choose between prices.
"""
