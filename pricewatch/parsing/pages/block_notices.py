"""Pages that stand in for the one asked for: captchas, denials, queues, and pleas to turn JavaScript on."""

from __future__ import annotations

import re

from pricewatch.parsing.text import squash

BLOCKING_STATUS = frozenset({401, 403, 407, 429, 451, 503})

# Phrases of a challenge page's title or of its few words.
_WORDS = re.compile(
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

# Marks in the source of challenge pages; shops may load the same scripts, so they count only without words.
_MARKS = (
    "cf-challenge", "_cf_chl_opt", "cf-browser-verification", "cf-error-details", "challenge-platform/h/",
    "px-captcha", "_pxcaptcha", "captcha-delivery.com", "geo.captcha", "incapsula_resource", "_incapsula_",
    "distil_r_captcha", "distil_identification", "ak_bmsc", "/_sec/cp_challenge", "sec-if-cpt-container",
    "queue-it.net", "g-recaptcha", "h-captcha", "hcaptcha.com", "recaptcha/api", "funcaptcha", "arkoselabs",
    "perimeterx", "datadome", "kpsdk", "aws-waf-token", "awswafcaptcha", "challenge-container", "turnstile",
)  # fmt: skip

_FEW_WORDS = 2_500
_SMALL_SOURCE = 40_000
_LONGEST_TITLE = 160


def blocked_reason(
    title: str, text: str, html: str, status: int = 200, *, has_product_evidence: bool = False
) -> str | None:
    """Why a page is not the one asked for, or None where it may well be.

    `text` is what the page shows, `html` its source. A page that shows a product is that product's page,
    whatever protection it loads; a page with much to read is not a challenge either.
    """
    if status in BLOCKING_STATUS:
        return f"status {status}"
    if has_product_evidence:
        return None
    shown_title = squash(title)[:_LONGEST_TITLE].lower()
    match = _WORDS.search(shown_title)
    if match:
        return f"title says {match.group(0)!r}"
    shown = squash(text[: _FEW_WORDS * 4]).lower()
    if len(shown) > _FEW_WORDS:
        return None
    match = _WORDS.search(shown)
    if match:
        return f"page says {match.group(0)!r}"
    if len(html) <= _SMALL_SOURCE and len(shown) < _FEW_WORDS // 5:
        source = html.lower()
        mark = next((mark for mark in _MARKS if mark in source), None)
        if mark:
            return f"challenge {mark!r}"
    return None
