"""Detection of pages that replace the requested one: captchas, denials, queues, "enable JavaScript"."""

from __future__ import annotations

import re

from pricewatch.parsing.text import collapse_spaces

BLOCKING_STATUS = frozenset({401, 403, 407, 429, 451, 503})

# Phrases in the title or the short text of a challenge page.
_PHRASES = re.compile(
    r"\b(?:access (?:to this (?:page|site|website|resource) (?:has been |is )?)?(?:denied|blocked|forbidden|"
    r"restricted)|"
    r"attention required|just a moment|one moment,? please|pardon our interruption|are you (?:a )?(?:human|"
    r"robot)|"
    r"(?:robot or human|human or robot)|(?:verify|prove|confirm)(?:ing)? (?:that )?you(?:'re|"
    r" are)(?: not)? (?:a )?(?:human|robot)|"
    r"i(?:'m| am) not a robot|verif(?:y|ying|ication) (?:you are|your browser|required)|"
    r"checking (?:your browser|if the site)|"
    r"security (?:check|verification)|ddos protection|bot (?:detection|protection)|"
    r"unusual (?:traffic|activity)|automated (?:access|requests|queries)|suspicious activity|"
    r"you have been (?:blocked|rate limited)|your (?:ip|request|access) (?:address )?(?:has been |was |"
    r"is )(?:blocked|banned|denied)|"
    r"request (?:blocked|unsuccessful|rejected)|too many requests|rate limit|"
    r"(?:enter|solve|type|complete) the (?:characters|captcha|puzzle|challenge)|captcha|"
    r"(?:enable|turn on|activate|allow) (?:javascript|js|cookies)|javascript (?:is |must be |"
    r"needs to be )?(?:required|disabled|enabled)|"
    r"requires javascript|without javascript|"
    r"you are (?:now )?in (?:line|the queue|a queue)|waiting room|virtual queue|your place in (?:line|"
    r"the queue)|"
    r"service (?:temporarily )?unavailable|403 forbidden|"
    r"zugriff (?:verweigert|blockiert)|(?:bitte )?(?:aktivieren sie )?javascript (?:ist )?(?:aktivieren|"
    r"deaktiviert|erforderlich)|"
    r"aktivieren sie javascript|sind sie ein (?:mensch|roboter)|kein roboter|warteraum|warteschlange|"
    r"accès (?:refusé|bloqué|interdit)|activer javascript|activez javascript|êtes-vous (?:un )?(?:humain|"
    r"robot)|file d'attente|"
    r"acceso (?:denegado|bloqueado)|activ(?:ar|e) javascript|no eres un robot|verificar que (?:eres|"
    r"es) humano|"
    r"accesso negato|attiva(?:re)? javascript|non sei un robot|acesso negado|"
    r"toegang geweigerd|schakel javascript in|brak dostępu|włącz javascript|přístup odepřen|"
    r"доступ (?:запрещ[её]н|ограничен|заблокирован)|включите javascript|вы не робот|подтвердите, что)\b"
    r"|验证码|請啟用 ?javascript|アクセスが拒否|ロボットではない"
)

# Strings in the source of challenge pages; shops may load the same scripts, so they count only without text.
_SOURCE_MARKERS = (
    "cf-challenge", "_cf_chl_opt", "cf-browser-verification", "cf-error-details", "challenge-platform/h/",
    "px-captcha", "_pxcaptcha", "captcha-delivery.com", "geo.captcha", "incapsula_resource", "_incapsula_",
    "distil_r_captcha", "distil_identification", "ak_bmsc", "/_sec/cp_challenge", "sec-if-cpt-container",
    "queue-it.net", "g-recaptcha", "h-captcha", "hcaptcha.com", "recaptcha/api", "funcaptcha", "arkoselabs",
    "perimeterx", "datadome", "kpsdk", "aws-waf-token", "awswafcaptcha", "challenge-container", "turnstile",
)  # fmt: skip

_MAX_TEXT_LENGTH = 2_500
_MAX_SOURCE_LENGTH = 40_000
_MAX_TITLE_LENGTH = 160


def blocked_reason(
    title: str, text: str, html: str, status: int = 200, *, has_product_evidence: bool = False
) -> str | None:
    """The reason to consider a page blocked, or None.

    `text` is the visible text and `html` the source. A page with a product or with much text is not a
    challenge page, whatever protection it loads.
    """
    if status in BLOCKING_STATUS:
        return f"status {status}"
    if has_product_evidence:
        return None
    lower_title = collapse_spaces(title)[:_MAX_TITLE_LENGTH].lower()
    match = _PHRASES.search(lower_title)
    if match:
        return f"title says {match.group(0)!r}"
    lower_text = collapse_spaces(text[: _MAX_TEXT_LENGTH * 4]).lower()
    if len(lower_text) > _MAX_TEXT_LENGTH:
        return None
    match = _PHRASES.search(lower_text)
    if match:
        return f"page says {match.group(0)!r}"
    if len(html) <= _MAX_SOURCE_LENGTH and len(lower_text) < _MAX_TEXT_LENGTH // 5:
        source = html.lower()
        marker = next((marker for marker in _SOURCE_MARKERS if marker in source), None)
        if marker:
            return f"challenge {marker!r}"
    return None
