"""The JSON API."""

from fastapi import APIRouter


def api_routers() -> list[APIRouter]:
    return []
