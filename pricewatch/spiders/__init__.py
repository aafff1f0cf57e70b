"""The four spiders, what they share, and their arguments. No SQL here: that is `store`'s."""
