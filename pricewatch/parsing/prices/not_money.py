"""Numbers without a currency mark that are not money: dates, measures and counts."""

from __future__ import annotations

import re

# Full names, and abbreviations that are not other words.
MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct okt nov dec dez
    januar jänner februar märz mai juni juli oktober dezember
    janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    januari februari maart mei augustus december desember
    januára februára marca apríla mája júna júla septembra októbra novembra decembra
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
    ledna února března dubna května června července srpna září října listopadu prosince
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
    """.split()  # noqa: SIM905 - a list of words reads better so
)
_YEARS = range(1900, 2100)
_DAYS = range(1, 32)
# Excludes units that are also words: "19.99 in stock".
_MEASURE = re.compile(
    r"\s?(?:ft|feet|foot|inch(?:es)?|yd|yards?|miles?|mm|cm|dm|km|mg|kg|lbs?|oz|ml|cl|kw|mah|gb|tb|mhz|ghz|zoll|"
    r"см|мм|кг)\b(?!\w)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?:\bmin(?:imum|imal\w*|\.)?\s?(?:order|qty|quantity|bestell\w*|menge|abnahme|commande|pedido|ordine|"
    r"bestelling|zamówieni\w*|objednávk\w*)|\bmoq|\bmindest(?:bestell|abnahme)\w*|мин\w{0,20}\.?\s?(?:заказ|кол)\w{0,20}|"
    r"\b(?:qty|quantity|menge|anzahl|quantité|cantidad|quantità|quantidade|aantal|ilość|množství|количество|"
    r"кол-во))[\s.:=(]{0,6}$",
    re.IGNORECASE,
)
_LABEL_LENGTH = 48
_LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\s.,]{0,3}$")
_NEXT_WORD = re.compile(r"[\s.,]{0,3}([^\W\d_]+)")


def is_not_money(text: str, start: int, end: int) -> bool:
    """Whether the words around a number mark it as a date, a measure or a count."""
    label = text[max(0, start - _LABEL_LENGTH) : start]
    if _MEASURE.match(text, end) or _COUNT.search(label):
        return True
    digits = text[start : min(end, start + 5)]
    if not digits.isdigit() or not (int(digits) in _YEARS or int(digits) in _DAYS):
        return False
    neighbours = (_LAST_WORD.search(label), _NEXT_WORD.match(text, end))
    return any(word is not None and word[1].lower() in MONTHS for word in neighbours)
