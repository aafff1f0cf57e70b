"""Habits of real shops: how lists end, how deleted products are answered, what cards leave out.

A habit is an object with a name. When ordered, it is active for a period, for one category or all.
Habits change how listings are shown, or the listings themselves; `shown_facts` says what was visible when.
"""
