"""Words around an amount that say no more than that it is the price."""

from __future__ import annotations

import re
from functools import lru_cache

from pricewatch.money import ISO_4217
from pricewatch.parsing.prices.currency_marks import BLOCK_BREAK, PIECE_BREAK
from pricewatch.parsing.prices.price_roles import without_tax_words

# The word "price" and what shops say with it; a text of only these words labels the current price.
_PRICE_WORDS = re.compile(
    r"\b(?:(?:unit|sale|sales|special|final|current|selling|total|item|product|offer|your|our|best|retail)\s)?"
    r"(?:price|preis|prix|precio|preço|preco|prezzo|prijs|cena|cijena|cenu|pris|hinta|hind|kaina|ár|ára|"
    r"preț|pret|preţ|цена|ціна|цэна|τιμή|fiyat|fiyatı|harga|giá|สินค้า|ราคา|السعر|سعر|מחיר|मूल्य|कीमत)\b|"
    r"\b(?:now|only|just|today|sale|special|deal|offer|nur|jetzt|aktuell|angebot|sonderpreis|kaufpreis|"
    r"seulement|maintenant|ahora|hoy|oferta|solo|sólo|agora|por|à vista|adesso|ora|offerta|nu|voor|"
    r"teraz|dnes|nyní|akce|most|akció|acum|doar|nyt|naš[ae]?|вашa?|сейчас|тільки|şimdi|"
    r"new|neu|neuf|neuve|nuevo|nueva|nuovo|nuova|novo|nova|nieuw|nový|nowy|nowa|új|новый|yeni|"
    r"each|stk|ks|szt|pcs?|pcs|buc|db|kpl|шт|piece|stück|unit[eéà]?)\b|"
    r"価格|販売価格|税込価格|促销价|促銷價|活动价|券后价|優惠價|优惠价|价格|售价|现价|價格|售價|特價|網路價|가격|판매가|할인가",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b[A-Z]{3}\b")
PERCENTAGE = re.compile(r"[-−–]?\s?(?<!\d)\d++(?:[.,]\d++)?\s?%")
_CURRENCY_WORDS = re.compile(
    r"\b(?:euro?s?|zł|zl|kč|kc|ft|lei|leu|ron|kr|sek|nok|dkk|rs|rp|rm|руб|грн|лв|тг|тенге|сум|дин|ден|"
    r"tl|fr|chf|usd|eur|gbp|dh|dt|tnd|bs|km|sfr|us|nt|hk|mx|au|ca)\b\.?|[^\W\d_]?[$€£¥￥₽₹₨₩₺₴₪₫฿₱₦₡₲₸₼₾₮₭៛₵৳֏]|円|원|元|圓|"
    r"جنيه|ريال|درهم|دينار|บาท|đ\b|vnđ|ر\.س|د\.إ|ج\.م|د\.ك|р\b",
    re.IGNORECASE,
)
# A number is a word too: it may count pieces or payments.
_WORD = re.compile(r"[^\W\d_]{2,}|\d|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Also matches a number without a mark, so that its digits are read once.
_MARKED_NUMBER = re.compile(
    rf"(?P<before>{_CURRENCY_WORDS.pattern})\s?\d[\d.,'’\s]*+"
    rf"|\d[\d.,'’\s]*+(?P<after>{_CURRENCY_WORDS.pattern})?",
    re.IGNORECASE,
)


def last_mark_end(text: str) -> int:
    """The position after the last currency mark of a text, with the number that it belongs to."""
    found = (match.end() for match in _MARKED_NUMBER.finditer(text) if match["before"] or match["after"])
    return max(found, default=0)


# The pages of a shop repeat the same few texts.
@lru_cache(maxsize=4096)
def has_other_words(text: str) -> bool:
    """Whether the text around an amount says more than that it is the price."""
    plain = _CODE.sub(lambda found: " " if found[0] in ISO_4217 else found[0], text)
    plain = without_tax_words(plain.replace(PIECE_BREAK, " ").replace(BLOCK_BREAK, " ").lower())
    for pattern in (PERCENTAGE, _CURRENCY_WORDS, _PRICE_WORDS):
        plain = pattern.sub(" ", plain)
    return _WORD.search(plain) is not None
