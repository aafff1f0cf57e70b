"""Canonical URLs, registrable domains, absolute links, and URLs of the same product."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, quote, urljoin, urlsplit, urlunsplit

import tldextract
from w3lib.url import canonicalize_url, safe_url_string

# Offline: uses the snapshot of the public suffix list in tldextract.
_SUFFIXES = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

_TRACKING = frozenset({"fbclid", "gclid", "ref", "source", "campaign"})
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
_ID_PARAMETER = re.compile(r"(?:\w*id|product|item|sku|artikel|art|p|code|goods)=", re.IGNORECASE)
_ID = re.compile(r"\d{4,}")
_YEAR = re.compile(r"(?:19|20)\d\d")
# Longer than the number of a category; or letters and digits, as in an ASIN.
_LONG_ID = re.compile(r"\d{6,}|\b(?=[A-Z]*\d)[A-Z0-9]{8,}\b")
# A last path segment that does not identify a product; its query parameters do.
_SCRIPT = re.compile(
    r"[\w-]*\.(?:php|aspx?|jsp|cgi|do)|index(?:\.\w+)?|view|products?|items?|details?|p|goods|offer"
)
_NON_PRODUCT_PARAMETERS = frozenset({"lang", "language", "locale", "currency", "country", "sid", "session"})
# URLs that only need https: no query, no escapes, no standard port.
_ALREADY_CANONICAL = re.compile(
    r"https?://([a-z0-9](?:[a-z0-9-]*\.)*[a-z0-9-]*[a-z0-9](?::(?!0|80/|443/)(?:\d{2,4}|[1-5]\d{4}))?"
    r"(?:/[A-Za-z0-9_-]+)+)"
)
# Links from the root that need no further resolution.
_ROOT_RELATIVE = re.compile(r"(?:/[A-Za-z0-9_-]+)+")


class InvalidUrl(ValueError):
    """A URL that is not a valid web address."""


def canonical_url(url: str) -> str:
    """Normalize a URL: https, lower-case host, no fragment, no tracking, sorted parameters."""
    match = _ALREADY_CANONICAL.fullmatch(url)
    return f"https://{match[1]}" if match else _canonical(url)


@lru_cache(maxsize=32)
def _canonical(url: str) -> str:
    parts = _split(url)
    parameters = [
        (key, value) for key, value in parse_qsl(parts.query) if not _is_tracking(key) and value.strip()
    ]
    query = "&".join(f"{_quoted(key)}={_quoted(value)}" for key, value in parameters)
    path = parts.path.rstrip("/") or "/"
    normalized = urlunsplit(("https", _host_and_port(parts), path, query, ""))
    try:
        return canonicalize_url(normalized, keep_blank_values=False)
    except ValueError as error:
        raise InvalidUrl(f"not a URL: {url[:200]!r}") from error


def absolute_url(base: str, link: str) -> str:
    """Make a link absolute; does not validate it."""
    try:
        return f"{_root(base)}{link}" if _ROOT_RELATIVE.fullmatch(link) else urljoin(base, link.strip())
    except ValueError as error:
        raise InvalidUrl(f"not a link: {link[:200]!r}") from error


@lru_cache(maxsize=32)
def _root(base: str) -> str:
    """Scheme and host of a page; cached for all links of the page."""
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


def registrable_domain(url_or_host: str) -> str:
    """The registered domain: `example.co.uk` for `shop.example.co.uk`; an IP address is returned as is."""
    return _domain_of_host(host_of(url_or_host))


@lru_cache(maxsize=4096)
def _domain_of_host(host: str) -> str:
    if _is_address(host):
        return host
    found = _SUFFIXES(host)
    if found.domain and found.suffix:
        return f"{found.domain}.{found.suffix}"
    # No rule matches: the default of the list is that the last label is the suffix.
    return host if found.suffix else ".".join(host.split(".")[-2:])


def is_unregistered_host(domain: str) -> bool:
    """Whether a host has no registered domain: an IP address, or a name like localhost."""
    return "." not in domain or _is_address(domain) or domain.endswith(".localhost")


def site_of(url: str) -> str:
    """The key of a rate limit: the registrable domain, or for an IP address or localhost, host and port.

    The two standard ports are one site.
    """
    domain = registrable_domain(url)
    if not is_unregistered_host(domain):
        return domain
    try:
        port = urlsplit(url if "//" in url else f"//{url}").port
    except ValueError as error:
        raise InvalidUrl(f"no port in {url[:200]!r}") from error
    host = f"[{domain}]" if ":" in domain else domain
    return domain if port in (None, 80, 443) else f"{host}:{port}"


def is_other_page(page_url: str, link: str | None) -> bool:
    """Whether a link leads to another page; anchors and scripts do not."""
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
    """The parameters that identify a product, for shops with one path for all products."""
    return {pair for pair in query.split("&") if _ID_PARAMETER.match(pair)}


def is_same_product_url(requested: str, final: str) -> bool:
    """Whether two URLs plausibly name the same product: a redirect may rename a page, but not replace it.

    Only the parts that identify the requested product count, because both may share a category.
    """
    try:
        first, second = canonical_url(requested), canonical_url(final)
        if registrable_domain(first) != registrable_domain(second):
            return False
    except InvalidUrl:
        return False
    if first == second:
        return True
    a, b = urlsplit(first), urlsplit(second)
    expected, found = _parameters(a.query), _parameters(b.query)
    if any(found.get(name, value) != value for name, value in expected.items()):
        return False
    last = _last_segment(a.path)
    if last and last == _last_segment(b.path):
        return expected.keys() <= found.keys() if _SCRIPT.fullmatch(last) else True
    ids = {*_ID.findall(last), *_ID.findall(a.query), *_LONG_ID.findall(a.path)}
    final_ids = {*_ID.findall(b.path), *_LONG_ID.findall(b.path)}
    return any(not _YEAR.fullmatch(one) for one in ids & final_ids)


def _parameters(query: str) -> dict[str, str]:
    return {name: value for name, value in parse_qsl(query) if name.lower() not in _NON_PRODUCT_PARAMETERS}


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
    host_part = f"[{host}]" if ":" in host else host
    if not _HOST.fullmatch(host_part):
        raise InvalidUrl(f"no valid host: {host[:200]!r}")
    standard = parts.port in (None, 80, 443)
    return host_part if standard else f"{host_part}:{parts.port}"


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
