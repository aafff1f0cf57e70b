"""What shops do and no standard forbids: how lists end, how deleted products answer, what cards leave out.

A habit is a small object with a name. Ordered, it is in force for a while, for one category or all of them.
Habits change how things are shown and what happens to listings; `evidence` tells what could be read.
"""
