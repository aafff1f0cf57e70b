"""Every regular expression that reads data from outside takes time in proportion to its input."""
