"""Block pages, soft errors and damaged pages, sent by faults instead of the requested page."""

import re
from zlib import crc32

from pricewatch.bazaar.http_messages import Response

_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
    "<body>{body}</body></html>\n"
)


def _html(title: str, body: str, head: str = "", status: int = 200) -> Response:
    return Response(status, _PAGE.format(title=title, head=head, body=body).encode())


CAPTCHA = _html(
    "Just a moment...",
    "<h1>Checking that you are human</h1><p>Please complete the security check to access bazaar.</p>"
    '<form id="challenge-form" action="/cdn-cgi/challenge" method="post">'
    '<div class="g-recaptcha" data-sitekey="6Lc-example"></div>'
    '<input type="submit" value="I am not a robot"></form>'
    "<p>Ray ID: 7d1f00c0ffee</p>",
    '<script src="/cdn-cgi/challenge-platform/orchestrate.js" async></script>',
)
QUEUE = _html(
    "You are in line",
    "<h1>You are now in line</h1><p>Many people want to visit us right now. Your number in the queue is "
    "4211 and your estimated wait time is 7 minutes. Please do not refresh this page.</p>",
    '<meta http-equiv="refresh" content="30">',
)
JAVASCRIPT_WALL = _html(
    "Bazaar",
    "<noscript><h1>Please turn JavaScript on and reload the page</h1></noscript>"
    "<p>This site requires JavaScript and cookies to continue.</p>",
)
ACCESS_DENIED = _html(
    "Access Denied",
    "<h1>Access Denied</h1><p>You don't have permission to access this resource on this server.</p>"
    "<p>Reference #18.2f3e1002.1700000000.1a2b3c</p>",
    status=403,
)
BLANK = _html("", "")
SOFT_404 = _html(
    "Page not found",
    "<main><h1>Sorry, we could not find this page</h1><p>This product is no longer in our range.</p>"
    '<aside class="promo">Deal of the day: Espresso cups, set of six '
    '<span class="price">€ 24,90</span></aside></main>',
)
EMPTY = Response(200, b"")


def garbled(response: Response) -> Response:
    """Return the page as after a redesign: classes and data attributes renamed, structured data removed."""
    html = response.body.decode()
    html = re.sub(r'<script type="application/ld\+json">.*?</script>', "", html, flags=re.DOTALL)
    html = re.sub(r'\s(?:itemprop|itemtype)="[^"]*"|\sitemscope', "", html)
    html = re.sub(r'\sclass="([^"]*)"', lambda match: f' class="{_renamed(match[1])}"', html)
    html = re.sub(r'\sdata-([a-z-]+)="', lambda match: f' data-{_renamed(match[1])}="', html)
    html = html.replace("<article", "<div").replace("</article", "</div").replace(' rel="next"', "")
    return Response(response.status, html.encode(), response.content_type, response.headers)


def _renamed(word: str) -> str:
    return f"x{crc32(word.encode()):08x}"
