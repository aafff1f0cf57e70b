"""URLs as identities: one spelling per page, the domain behind a host, and links made absolute."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, quote, urljoin, urlsplit, urlunsplit

import tldextract
from w3lib.url import canonicalize_url, safe_url_string

# Offline: the snapshot of the public suffix list that ships with tldextract.
_SUFFIXES = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

_TRACKING = frozenset({"fbclid", "gclid", "ref", "source", "campaign"})
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
_ID_PARAMETER = re.compile(r"(?:\w*id|product|item|sku|artikel|art|p|code|goods)=", re.IGNORECASE)
_ID = re.compile(r"\d{4,}")
_YEAR = re.compile(r"(?:19|20)\d\d")
# Too long for a category's number; or letters and digits, as in an ASIN.
_LONG_ID = re.compile(r"\d{6,}|\b(?=[A-Z]*\d)[A-Z0-9]{8,}\b")
# A last part of a path that names no product: what its parameters say does.
_SCRIPT = re.compile(
    r"[\w-]*\.(?:php|aspx?|jsp|cgi|do)|index(?:\.\w+)?|view|products?|items?|details?|p|goods|offer"
)
_NOT_OF_A_PRODUCT = frozenset({"lang", "language", "locale", "currency", "country", "sid", "session"})
# Most links need nothing but their scheme changed: no query, no escapes, no port that goes without saying.
_ALREADY_PLAIN = re.compile(
    r"https?://([a-z0-9](?:[a-z0-9-]*\.)*[a-z0-9-]*[a-z0-9](?::(?!0|80/|443/)(?:\d{2,4}|[1-5]\d{4}))?"
    r"(?:/[A-Za-z0-9_-]+)+)"
)
# Links as most sites write them: from the root, with nothing that needs resolving.
_FROM_ROOT = re.compile(r"(?:/[A-Za-z0-9_-]+)+")


class InvalidUrl(ValueError):
    """A URL that names no web page."""


def canonical_url(url: str) -> str:
    """The one spelling of a URL: https, lower-case host, no fragment, no tracking, parameters sorted."""
    plain = _ALREADY_PLAIN.fullmatch(url)
    return f"https://{plain[1]}" if plain else _canonical(url)


@lru_cache(maxsize=32)
def _canonical(url: str) -> str:
    parts = _split(url)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if not _is_tracking(key) and value.strip()]
    query = "&".join(f"{_quoted(key)}={_quoted(value)}" for key, value in kept)
    path = parts.path.rstrip("/") or "/"
    plain = urlunsplit(("https", _host_and_port(parts), path, query, ""))
    try:
        return canonicalize_url(plain, keep_blank_values=False)
    except ValueError as error:
        raise InvalidUrl(f"not a URL: {url[:200]!r}") from error


def absolute_url(base: str, link: str) -> str:
    """A link as found on a page, made absolute; not yet checked."""
    try:
        return f"{_root(base)}{link}" if _FROM_ROOT.fullmatch(link) else urljoin(base, link.strip())
    except ValueError as error:
        raise InvalidUrl(f"not a link: {link[:200]!r}") from error


@lru_cache(maxsize=32)
def _root(base: str) -> str:
    """What comes before the path of a page: the same for all links on it."""
    return urljoin(base, "/").removesuffix("/")


def host_of(url_or_host: str) -> str:
    """The host of a URL or of a bare host, in lower case, without port and credentials."""
    text = url_or_host.strip()
    if _is_address(text):
        return text.strip("[]").lower()
    if "//" not in text:
        text = f"//{text}"
    try:
        host = urlsplit(text).hostname
    except ValueError as error:
        raise InvalidUrl(f"no host in {url_or_host[:200]!r}") from error
    if not host:
        raise InvalidUrl(f"no host in {url_or_host[:200]!r}")
    return host.rstrip(".").lower()


@lru_cache(maxsize=4096)
def registrable_domain(url_or_host: str) -> str:
    """The domain that someone registered: `example.co.uk` for `shop.example.co.uk`; IPs stay themselves."""
    host = host_of(url_or_host)
    if _is_address(host):
        return host
    found = _SUFFIXES(host)
    if found.domain and found.suffix:
        return f"{found.domain}.{found.suffix}"
    # No rule matches: the list's own default takes the last label as the suffix.
    return host if found.suffix else ".".join(host.split(".")[-2:])


def is_machine(domain: str) -> bool:
    """Whether a domain is an address or a name like localhost, which nobody registered for one site."""
    return "." not in domain or _is_address(domain) or domain.endswith(".localhost")


@lru_cache(maxsize=4096)
def site_of(url: str) -> str:
    """What shares one rate budget: the registrable domain; of an address or a name like localhost, the port.

    What answers on the two standard ports is one site.
    """
    domain = registrable_domain(url)
    if not is_machine(domain):
        return domain
    try:
        port = urlsplit(url if "//" in url else f"//{url}").port
    except ValueError as error:
        raise InvalidUrl(f"no port in {url[:200]!r}") from error
    host = f"[{domain}]" if ":" in domain else domain
    return domain if port in (None, 80, 443) else f"{host}:{port}"


def is_other_page(page_url: str, link: str | None) -> bool:
    """Whether a link on a page leads to another one than the page itself; anchors and scripts do not."""
    if not link or link.startswith(("#", "javascript:", "mailto:", "tel:")):
        return False
    path, _, query = link.partition("#")[0].partition("?")
    page, _, page_query = page_url.partition("#")[0].partition("?")
    path = path.rstrip("/")
    if path and not path.startswith(("/", "http")):
        path = "/" + path.lstrip("./")
    if path and not page.rstrip("/").endswith(path.partition("://")[2] or path):
        return True
    return bool(query and page_query) and _named_ids(query) != _named_ids(page_query)


def _named_ids(query: str) -> set[str]:
    """The parameters that name a product, for shops that have one path for all of them."""
    return {pair for pair in query.split("&") if _ID_PARAMETER.match(pair)}


def is_same_product_url(asked: str, ended: str) -> bool:
    """Whether a URL plausibly names what another one did: a redirect may rename a page, not replace it.

    What both share may be their category; only what names the product that was asked for counts.
    """
    try:
        first, second = canonical_url(asked), canonical_url(ended)
        if registrable_domain(first) != registrable_domain(second):
            return False
    except InvalidUrl:
        return False
    if first == second:
        return True
    a, b = urlsplit(first), urlsplit(second)
    wanted, given = _parameters(a.query), _parameters(b.query)
    if any(given.get(name, value) != value for name, value in wanted.items()):
        return False
    last = _last_segment(a.path)
    if last and last == _last_segment(b.path):
        return wanted.keys() <= given.keys() if _SCRIPT.fullmatch(last) else True
    ids = {*_ID.findall(last), *_ID.findall(a.query), *_LONG_ID.findall(a.path)}
    found = {*_ID.findall(b.path), *_LONG_ID.findall(b.path)}
    return any(not _YEAR.fullmatch(one) for one in ids & found)


def _parameters(query: str) -> dict[str, str]:
    return {name: value for name, value in parse_qsl(query) if name.lower() not in _NOT_OF_A_PRODUCT}


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(safe_url_string(url.strip()))
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise InvalidUrl(f"not a URL: {url[:200]!r}") from error
    if parts.scheme not in ("http", "https"):
        raise InvalidUrl(f"not a web address: {url[:200]!r}")
    if not host:
        raise InvalidUrl(f"no host in {url[:200]!r}")
    return parts


def _host_and_port(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    shown = f"[{host}]" if ":" in host else host
    if not _HOST.fullmatch(shown):
        raise InvalidUrl(f"no valid host: {host[:200]!r}")
    standard = parts.port in (None, 80, 443)
    return shown if standard else f"{shown}:{parts.port}"


def _is_tracking(key: str) -> bool:
    name = key.lower()
    return name.startswith("utm_") or name in _TRACKING


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _last_segment(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()
