"""The closed list of habits, by name."""

from pricewatch.bazaar.habits.changes import CHANGES
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.lists import LISTS
from pricewatch.bazaar.habits.looks import LOOKS
from pricewatch.bazaar.habits.visits import VISITS

HABITS: dict[str, Habit] = {habit.name: habit for habit in (*LISTS, *CHANGES, *LOOKS, *VISITS)}
