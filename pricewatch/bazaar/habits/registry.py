"""All habits by name."""

from pricewatch.bazaar.habits.change_habits import CHANGES
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.list_habits import LISTS
from pricewatch.bazaar.habits.page_habits import PAGES
from pricewatch.bazaar.habits.presentation_habits import PRESENTATIONS
from pricewatch.bazaar.habits.request_habits import REQUESTS

HABITS: dict[str, Habit] = {
    habit.name: habit for habit in (*LISTS, *CHANGES, *PRESENTATIONS, *PAGES, *REQUESTS)
}
