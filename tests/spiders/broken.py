"""A pipeline with a fault."""

from typing import Any


class BreaksOnTheSecondPage:
    async def process_item(self, item: Any) -> Any:
        if item.number == 2:
            raise RuntimeError("broken")
        return item
