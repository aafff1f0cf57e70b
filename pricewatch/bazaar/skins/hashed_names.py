"""Hashes instead of the names of classes and ids, as build tools of style sheets generate them."""

import re
from functools import cache
from hashlib import sha256

from pricewatch.bazaar.static_files import APP_SCRIPT

LENGTH = 6
ATTRIBUTE = re.compile(rb'( (?:class|id)=")([^"]*)"')
STYLE = re.compile(rb"<style>.*?</style>", re.DOTALL)
SELECTOR = re.compile(rb"\.([a-z][\w-]*)")


def hashed(html: bytes) -> bytes:
    """Return a page or a part of it with a hash for each name of a class or id."""
    html = STYLE.sub(lambda style: SELECTOR.sub(lambda found: b"." + _hash(found[1]), style[0]), html)
    return ATTRIBUTE.sub(lambda found: found[1] + b" ".join(map(_hash, found[2].split())) + b'"', html)


@cache
def _hash(name: bytes) -> bytes:
    """Return the same hash for a name on every page."""
    return b"_" + sha256(name).hexdigest()[:LENGTH].encode()


# The names that the script of a JavaScript page gives to elements, and their hashes.
SCRIPT_NAMES = {
    name.decode(): _hash(name).decode() for name in re.findall(rb'\bclass: "([\w-]+)"', APP_SCRIPT)
}
