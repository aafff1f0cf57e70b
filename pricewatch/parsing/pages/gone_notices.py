"""Notices on pages with status 200 that the listing is gone or sold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from pricewatch.parsing.text import collapse_spaces


class Departure(StrEnum):
    GONE = "gone"
    SOLD = "sold"


@dataclass(frozen=True, slots=True)
class GoneEvidence:
    departure: Departure
    phrase: str


_THING = r"(?:page|product|item|article|listing|ad|offer|url|content)"
_GONE = re.compile(
    rf"(?:(?:this|that|the|your|requested|we(?:'re| are) sorry,? (?:but )?(?:this|"
    rf"the)) (?:\w+ ){{0,3}}{_THING}"
    r"(?: you(?:'re| are| were| requested| have requested| are looking for)[\w ]{0,24})? "
    r"(?:is|has been|was|has|does|could|cannot|can't|no longer)"
    r" ?(?:not be found|be found|no longer (?:available|exists?|active|offered|sold)|gone|expired|ended|"
    r"removed|deleted|"
    r"been (?:removed|deleted|discontinued)|discontinued|not exist|not found|exists?)|"
    rf"{_THING} (?:not found|no longer (?:available|exists?)|unavailable|expired|removed|does(?:n't|"
    rf" not) exist)|"
    r"we (?:couldn't|could not|can't|cannot) find (?:the|that|this|your) (?:page|product|item|listing)|"
    r"(?:^| [|\u2013\u2014-] |\b(?:http|error|code|fehler|erreur|errore) )404(?: error| not found| -|$)|"
    r"^not found$|"
    r"(?:die |diese |dieses |dieser |das |der |ihre )?(?:gesuchte |gewünschte |angeforderte |aufgerufene )?"
    r"(?:seite|artikel|produkt|anzeige|angebot) (?:\w+ ){0,4}(?:nicht (?:mehr )?(?:gefunden|verfügbar|"
    r"vorhanden|existiert|"
    r"existent|aktiv|im sortiment|erhältlich|online)|existiert nicht|wurde (?:gelöscht|entfernt|deaktiviert|"
    r"beendet)|"
    r"ist abgelaufen)|"
    r"(?:la |cette |le |ce |l'|cet )?(?:page|produit|article|annonce|"
    r"offre) (?:\w+ ){0,5}(?:n'existe (?:plus|pas)|"
    r"introuvable|n'est plus (?:disponible|en ligne|vendu)|a été (?:supprimée?|retirée?)|expirée?)|"
    r"page introuvable|"
    r"(?:la |esta |el |este )?(?:página|producto|artículo|anuncio|oferta) (?:\w+ ){0,5}(?:no (?:existe|"
    r"se ha encontrado|"
    r"fue encontrad[oa]|encontrad[oa]|está disponible|disponible)|ya no (?:existe|está disponible)|"
    r"ha sido (?:eliminad[oa]|"
    r"retirad[oa])|ha (?:caducado|expirado|finalizado))|"
    r"(?:la |questa |il |questo |l')?(?:pagina|prodotto|articolo|"
    r"annuncio) (?:\w+ ){0,5}(?:non (?:trovat[oa]|esiste|"
    r"(?:è )?(?:più )?disponibile)|è stato (?:rimosso|eliminato)|scadut[oa])|"
    r"(?:a |esta |o |este )?(?:página|produto|anúncio) (?:\w+ ){0,4}(?:não (?:encontrad[oa]|existe|"
    r"está (?:mais )?disponível)|"
    r"(?:foi )?removid[oa]|expirou)|"
    r"(?:de |deze |dit )?(?:pagina|product|artikel|advertentie) (?:\w+ ){0,4}(?:niet gevonden|bestaat niet|"
    r"niet (?:meer|langer) (?:beschikbaar|leverbaar)|verwijderd|verlopen)|"
    r"(?:strona|produkt|oferta|ogłoszenie) (?:\w+ ){0,4}(?:nie (?:została )?(?:znalezion[aoy]|istnieje|"
    r"jest (?:już )?"
    r"(?:dostępn\w+|aktualne))|została usunięta|wygasł[ao])|nie znaleziono (?:strony|produktu)|"
    r"stránka (?:nebyla nalezena|neexistuje)|produkt (?:\w+ ){0,3}(?:nebyl nalezen|neexistuje|již není)|"
    r"(?:sidan|produkten|annonsen) (?:\w+ ){0,3}(?:hittades inte|finns inte|är borttagen)|"
    r"(?:siden|varen|produktet|annoncen) (?:\w+ ){0,3}(?:ble ikke funnet|blev ikke fundet|findes ikke|"
    r"finnes ikke)|"
    r"(?:strani|izdelka|stran|izdelek) (?:\w+ ){0,3}(?:ne obstaja|ni mogoče najti|ni več)|"
    r"(?:pagina|produsul|anunțul) (?:\w+ ){0,4}(?:nu (?:a fost găsită?|există|mai este disponibil))|"
    r"(?:страница|товар|объявление) (?:\w+ ){0,4}(?:не найден[ао]?|не существует|удален[ао]?|"
    r"больше не (?:доступн|прода)\w*|"
    r"снят[оа]? с (?:публикации|продажи))|"
    r"找不到(?:頁面|网页|商品|您)|商品(?:不存在|已下架)|ページが見つかりません|商品は(?:削除|存在しません|見つかりません)|"
    r"該当する商品)"
)

_SOLD = re.compile(
    r"(?:this (?:item|listing|product|ad|property) (?:has been|was|is|has) sold(?! out)|"
    r"(?:item|listing) (?:has )?sold(?! out)|already sold(?! out)|"
    r"(?:artikel|anzeige|produkt|objekt) (?:\w+ ){0,3}(?:wurde|ist|bereits) (?:bereits |schon )?verkauft|"
    r"bereits verkauft|"
    r"(?:cet |cette |le |ce )?(?:article|objet|annonce) (?:a été |est |déjà )+vendue?|"
    r"(?:este |el )?(?:artículo|producto|anuncio) (?:ha sido|fue|está|ya) vendido|"
    r"(?:questo |l')?(?:articolo|annuncio|prodotto) (?:è (?:già )?stato|è|già) vendut[oa]|"
    r"(?:dit |deze )?(?:artikel|advertentie) is (?:al )?verkocht|al verkocht|"
    r"(?:este |o )?(?:artigo|produto|anúncio) (?:foi |está |já (?:foi )?)vendido|"
    r"(?:przedmiot|ogłoszenie|produkt) (?:został[oa]?|już) sprzedan[eya]|"
    r"(?:inzerát|položka|zboží|predmet|produkt) (?:byl[ao]? |bol[ao]? |je )(?:již |už )?"
    r"(?:prodán|predan)[aoáýé]?|"
    r"(?:a )?(?:termék|hirdetés) (?:már )?elkelt|(?:produsul|anunțul|articolul) (?:a fost|este) vândut|"
    r"(?:artikal|oglas|proizvod|izdelek) (?:je )?(?:već )?prodan|продуктът е продаден|"
    r"το (?:προϊόν|αντικείμενο) (?:έχει πουληθεί|πουλήθηκε)|"
    r"(?:varan|annonsen|objektet|varen|annoncen) är såld|(?:varen|annonsen|gjenstanden) er solgt|"
    r"(?:ilmoitus|kohde|tuote) on myyty|(?:kuulutus|toode) on müüdud|prece ir pārdota|prekė parduota|"
    r"(?:товар|объявление|вещь) (?:уже )?продан[оа]?|(?:товар|оголошення|річ) (?:вже )?продан[оаий]{0,2}|"
    r"(?:bu )?(?:ürün|ilan) satılmıştır|המוצר נמכר|تم بيع (?:هذا )?(?:المنتج|الإعلان)|"
    r"(?:sản phẩm|tin) (?:này )?đã (?:được )?bán|(?:barang|produk|iklan) (?:ini )?(?:sudah|telah) terjual|"
    r"売り切れました|この商品は売れました|판매 ?완료|已售出|已賣出|已卖出|ขายแล้ว)"
)
# "35 items sold", "已售出 1.2k": a number beside the words counts sales; "sold 3 days ago" is a time.
_COUNT_BEFORE = re.compile(r"\d[\d.,]{0,15}\s?(?:[kкm+万萬千]|mil|тыс\.?){0,9}\+?\s?(?:件|個|个)?\s?$")
_COUNT_AFTER = re.compile(
    r"\W{0,3}(?:over |more than |about |über |mehr als |plus de |más de |oltre |meer dan |более |понад )?"
    r"\d[\d.,]*(?![\d./-])(?!\s?(?:[年月日天分時时]|小[時时]|(?:minutes?|mins?|hours?|days?|weeks?|stunden?|"
    r"tagen?|jours?|heures?|d[íi]as?|horas?|giorni|dni|dn[íy]|дн\w*|час\w*|jan\w*|feb\w*|march|april|may|june|"
    r"july|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*)\b))"
)

_MAX_LENGTH = 240
_MAX_COUNT_LENGTH = 16
_SOLD_HINTS = (
    "sold", "verkauft", "vend", "verkocht", "sprzedan", "prodán", "predan", "elkelt", "vândut", "prodan",
    "продан", "продаден", "πουλ", "såld", "solgt", "myyty", "müüdud", "pārdota", "parduota", "satılmış",
    "נמכר", "بيع", "bán", "terjual", "売", "판매", "售出", "賣出", "卖出", "ขายแล้ว",
)  # fmt: skip
# Every phrase above contains one of these; used as a fast filter.
_HINTS = (
    "404", "not ", "no longer", "longer", "gone", "expired", "ended", "removed", "deleted", "discontinued",
    "found", "exist", "unavailable", "sold", "couldn't", "can't", "nicht", "gelöscht", "entfernt",
    "deaktiviert", "beendet", "abgelaufen", "verkauft", "n'e", "introuvable", "supprim", "retir", "expir",
    "vend", "no ", "eliminad", "caducado", "finalizado", "non ", "rimosso", "eliminato", "scadut", "não",
    "removid", "niet", "verwijderd", "verlopen", "verkocht", "nie ", "usunięta", "wygas", "sprzedan", "neb",
    "neex", "není", "inte", "borttagen", "ikke", "findes", "ne ", "ni ", "nu ", "не ", "удален", "снят",
    "больше", "找不到", "不存在", "下架", "見つかり", "削除", "存在しません", "該当", *_SOLD_HINTS,
)  # fmt: skip


def sold_notice(texts: list[str]) -> GoneEvidence | None:
    """The first text that says that the listing is sold."""
    joined = "\n".join(texts).lower()
    if not any(hint in joined for hint in _SOLD_HINTS):
        return None
    found = (find_departure(text) for text in texts)
    return next((one for one in found if one and one.departure is Departure.SOLD), None)


def find_departure(text: str) -> GoneEvidence | None:
    """The evidence in a short text (title, heading, notice) that the listing is gone or sold."""
    lowered = collapse_spaces(text).lower()[:_MAX_LENGTH].replace("’", "'")
    if not any(hint in lowered for hint in _HINTS):
        return None
    sold = _SOLD.search(lowered)
    if sold and not _counts_sales(lowered, sold):
        return GoneEvidence(Departure.SOLD, sold.group(0).strip())
    gone = _GONE.search(lowered)
    return GoneEvidence(Departure.GONE, gone.group(0).strip()) if gone else None


def _counts_sales(text: str, sold: re.Match[str]) -> bool:
    before = text[max(0, sold.start() - _MAX_COUNT_LENGTH) : sold.start()]
    return _COUNT_BEFORE.search(before) is not None or _COUNT_AFTER.match(text, sold.end()) is not None
