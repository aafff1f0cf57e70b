"""How `scrapyd-deploy` packs the project: everything under pricewatch/, whatever kind of file it is."""

from setuptools import find_namespace_packages, setup

setup(
    name="pricewatch",
    version="0.9.0",
    packages=find_namespace_packages(include=["pricewatch", "pricewatch.*"]),
    package_data={"": ["*"]},
    exclude_package_data={"": ["*.pyc"]},
    entry_points={"scrapy": ["settings = pricewatch.settings"]},
    zip_safe=True,
)
