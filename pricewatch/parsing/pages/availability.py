"""Availability from schema.org values and from phrases of shops.

A product is in stock only if a phrase says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from pricewatch.parsing.text import collapse_spaces
from pricewatch.vocabulary import Availability

_SCHEMA = {
    "instock": Availability.IN_STOCK,
    "instoreonly": Availability.IN_STOCK,
    "onlineonly": Availability.IN_STOCK,
    "limitedavailability": Availability.IN_STOCK,
    "reserved": Availability.OUT_OF_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "discontinued": Availability.OUT_OF_STOCK,
    "soldout": Availability.OUT_OF_STOCK,
    "preorder": Availability.BACKORDER,
    "presale": Availability.BACKORDER,
    "backorder": Availability.BACKORDER,
    "madetoorder": Availability.BACKORDER,
    # Values of Facebook's and Google's product feeds, which meta tags use.
    "available": Availability.IN_STOCK,
    "availablefororder": Availability.BACKORDER,
    "pending": Availability.OUT_OF_STOCK,
    "oos": Availability.OUT_OF_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "notavailable": Availability.OUT_OF_STOCK,
}

# Checked before _IN, because "not in stock" contains "in stock".
_OUT = re.compile(
    r"\b(?:out[- ]of[- ]stock|sold[- ]out|currently unavailable|temporarily unavailable|"
    r"not (?:currently )?available|"
    r"no longer available|unavailable|not in stock|no stock|discontinued|notify me when|email (?:me )?when|"
    r"back in stock (?:soon|notification)|"
    r"nicht (?:mehr )?(?:lieferbar|verfügbar|vorrätig|auf lager|erhältlich)|ausverkauft|vergriffen|"
    r"derzeit nicht|momentan nicht|leider nicht|zurzeit nicht|benachrichtig\w* sobald|"
    r"rupture(?: de stock)?|épuisé|indisponible|non disponible|plus disponible|en rupture|"
    r"agotado|sin (?:stock|existencias)|no disponible|fuera de stock|no hay stock|"
    r"esaurito|non disponibile|terminato|"
    r"esgotado|indispon[ií]vel|sem estoque|fora de estoque|avise-me|"
    r"uitverkocht|niet (?:op voorraad|leverbaar|beschikbaar)|"
    r"wyprzedan[ye]|brak w magazynie|niedostępn\w+|produkt niedostępny|chwilowo brak|"
    r"vyprodáno|není skladem|nedostupn\w+|není dostupn\w+|vypredané|nie je skladom|"
    r"slutsåld|slut i lager|ej i lager|utsolgt|ikke på lager|udsolgt|loppu|ei varastossa|"
    r"razprodano|ni na (?:voljo|zalogi)|nema na (?:stanju|zalihi)|rasprodano|nije dostupno|"
    r"elfogyott|nincs (?:készleten|raktáron)|nem elérhető|"
    r"stoc epuizat|indisponibil|nu este (?:disponibil|in stoc|în stoc)|"
    r"нет в наличии|нет на складе|распродан\w*|законч\w+|отсутствует|недоступ\w+|немає в наявності|"
    r"tükendi|stokta yok|εξαντλήθηκε|μη διαθέσιμο|אזל|غير متوفر|نفد)\b"
    r"|售完|缺貨|缺货|已售罄|無庫存|補貨中|在庫切れ|売り切れ|品切れ|在庫なし|入荷待ち|품절|일시품절",
)

_BACK = re.compile(
    r"\b(?:pre[- ]?order(?:ed|s)?|back[- ]?order(?:ed|s)?|made to order|built to order|special order|"
    r"ships? when available|vorbestell\w*|auf (?:nach)?bestellung|bei nachbestellung|nachbestellt|"
    r"lieferrückstand|précommande\w*|sur commande|en réapprovisionnement|"
    r"preventa|bajo pedido|por encargo|para reserva|preordin\w*|su ordinazione|pré-venda|"
    r"(?:sob|por) encomenda|encomenda|pre-?orderen|op bestelling|(?:via |in )?nabestelling|"
    r"przedsprzedaż|na zamówienie|předobjedn\w*|"
    r"na objednávku|"
    r"förbeställ\w*|beställningsvara|forhåndsbestill\w*|bestillingsvare|ennakkotil\w*|prednaročil\w*|"
    r"po naročilu|"
    r"előrendel\w*|precomand\w*|la comand[aă]|предзаказ\w*|под заказ|ön sipariş)\b"
    r"|預購|預訂|予約|取り寄せ|예약",
)

# "Can be backordered" does not mean that the product is on backorder now.
_POSSIBLE_BACKORDER = re.compile(r"\b(?:can|may) be (?:back|pre)[- ]?ordered\b|\bkann nachbestellt werden\b")

_IN = re.compile(
    r"\b(?:in[- ]stock|only \d+ left|\d+ (?:pcs |pieces |items |units )?(?:left|available|in stock)|"
    r"available (?:now|online|for (?:delivery|pickup|shipping)|immediately|to ship)|ready to ship|"
    r"ships (?:today|tomorrow|"
    r"within|in \d)|"
    r"auf lager|vorrätig|sofort (?:lieferbar|verfügbar|versandfertig)|lieferbar|lagernd|verfügbar|"
    r"nur noch \d+|versandfertig|"
    r"en stock|disponible|livraison sous|expédié sous|"
    r"en existencia|hay existencias|disponibilidad inmediata|envío inmediato|"
    r"disponibile|disponibilit[aà] immediata|pronta consegna|"
    r"em estoque|dispon[ií]vel|em stock|pronta entrega|"
    r"op voorraad|leverbaar|direct leverbaar|vandaag (?:besteld|verzonden)|"
    r"w magazynie|dostępn[yae]|na stanie|wysyłka w|"
    r"skladem|na sklad[eě]|dostupn[éýoa]|"
    r"i lager|på lager|finns i lager|varastossa|heti saatavilla|"
    r"na zalogi|na voljo|dobavljivo|na stanju|na zalihi|dostupno|"
    r"készleten|raktáron|elérhető|"
    r"[iî]n stoc|stoc (?:suficient|limitat)|disponibil|"
    r"в наличии|есть на складе|на складе|доступен|в наявності|"
    r"stokta|διαθέσιμο|במלאי|متوفر|متاح)\b"
    r"|有貨|現貨|现货|库存充足|在庫あり|残り\d+|재고 ?있음",
)

_BUY = re.compile(
    r"\b(?:add to (?:cart|bag|basket|trolley)|buy(?: it)? now|buy|order now|add to order|checkout now|"
    r"purchase|"
    r"in den (?:einkaufs)?(?:warenkorb|korb|wagen)|jetzt kaufen|in den einkaufswagen|(?:jetzt )?bestellen|"
    r"kaufen|"
    r"ajouter (?:au|à mon|dans le) (?:panier|sac)|acheter|je l'achète|"
    r"añadir (?:al|a la) (?:carrito|cesta|bolsa)|agregar al carr(?:ito|o)|comprar(?: ahora| agora)?|"
    r"adicionar ao (?:carrinho|cesto)|"
    r"aggiungi al (?:carrello|cestino)|acquista(?: ora)?|compra(?: subito)?|"
    r"in (?:mijn |het )?winkel(?:wagen|mand(?:je)?)|bestel(?:len)?(?: nu)?|"
    r"do koszyka|dodaj do koszyka|kup teraz|do koš[ií]ku|koupit|vložit do košíku|kúpiť|"
    r"lägg i varukorg(?:en)?|köp|legg i handlekurv(?:en)?|kjøp|læg i kurv(?:en)?|køb|lisää (?:ostos)?koriin|"
    r"osta|"
    r"(?:dodaj )?v košarico|naroči|v voziček|dodaj u (?:košaricu|korpu)|kosárba|megveszem|"
    r"adaug[aă] [iî]n co[sș]|cump[aă]r[aă]|"
    r"lisa ostukorvi|(?:ielikt|pievienot) groz\w+|į krepšelį|"
    r"thêm vào giỏ|mua ngay|beli sekarang|(?:masukkan|tambah(?:kan)?) ke keranjang|"
    r"купи|(?:добави )?в количката|в корзину|добавить в корзину|купить|заказать|до кошика|купити|себетке|"
    r"sepete ekle|satın al|στο καλάθι|προσθήκη στο καλάθι|הוסף לסל|أضف إلى (?:السلة|عربة))\b"
    r"|加入購物車|加入购物车|立即購買|立即购买|我要購買|馬上購買|カートに入れる|カートに追加|かごに(?:入れる|追加)|購入|장바구니|구매하기|"
    r"ใส่ตะกร้า|ลงตะกร้า|ใส่รถเข็น|ลงในรถเข็น|ซื้อเลย",
)


# A text with one of these words is about the availability of something else than the product.
_OTHER_SUBJECT = re.compile(
    r"\b(?:information|info|reviews?|ratings?|stores?|filialen?|markt|märkten|branch|pick-?up|abholung|"
    r"click|collect|"
    r"retiro|retrait|ritiro|magasins?|tiendas?|negozi\w*|payments?|coupons?|country|countries|colou?rs?|"
    r"sizes?|farben|"
    r"größen?|couleurs|tailles?|colores|tallas?|colori|taglie|cores|images?|videos?|photos?|bilder|"
    r"magazinach|"
    r"магазин\w*|самовывоз\w*|gift wrap\w*|financing|ratenzahlung|express|island|po box\w*|languages?)\b"
)

# Every phrase above contains one of these; used as a fast filter.
_STEMS = (
    "stock", "sold", "avail", "discontinued", "notify me", "email me", "email when", "lager", "lieferbar",
    "verfügbar", "vorrätig", "erhältlich", "ausverkauft", "vergriffen", "nicht", "benachrichtig",
    "versandfertig", "nur noch", "rupture", "épuisé", "dispon", "indispon", "agotado", "existencia",
    "esaurito", "terminato", "esgotado", "estoque", "avise", "uitverkocht", "voorraad", "leverbaar",
    "beschikbaar", "wyprzedan", "magazyn", "dostępn", "brak", "vyprod", "vypredan", "sklad", "dostupn",
    "slutsåld", "slut i", "utsolgt", "udsolgt", "loppu", "varasto", "razprodano", "rasprodano", "voljo",
    "zalogi", "stanju", "zalihi", "elfogyott", "készlet", "raktár", "elérhető", "stoc", "налич", "склад",
    "распродан", "законч", "отсутств", "доступ", "наявност", "tükendi", "stokta", "εξαντλ", "διαθέσιμο",
    "אזל", "במלאי", "متوفر", "نفد", "متاح", "售", "缺", "庫", "库", "補貨", "在庫",
    "切れ", "入荷", "품절", "재고", "order",
    "bestell", "rückstand", "commande", "réappro", "preventa", "reserva", "pedido", "encargo", "ordin",
    "pré-venda", "encomenda", "sprzedaż",
    "zamówienie", "objedn", "beställ", "bestill", "ennakko", "naroč", "rendel", "comand", "заказ",
    "sipariş", "預", "予約", "取り寄せ", "예약", "left", "ready to ship", "ships",
    "livraison sous", "expédié",
    "inmediat", "immediata", "pronta", "vandaag", "wysyłka", "na stanie", "saatavilla", "dobavljivo", "現貨",
    "现货", "有貨", "残り",
)  # fmt: skip


def schema_availability(value: object) -> Availability:
    """The availability of a machine-readable value (`https://schema.org/InStock`, `in stock`, `oos`)."""
    if isinstance(value, dict):
        value = value.get("@id") or value.get("name") or ""
    if isinstance(value, list):
        states = {schema_availability(one) for one in value}
        return states.pop() if len(states) == 1 else Availability.UNKNOWN
    if not isinstance(value, str):
        return Availability.UNKNOWN
    name = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    return _SCHEMA.get(re.sub(r"[\W_]+", "", name).lower(), Availability.UNKNOWN)


def text_availability(text: str) -> Availability:
    """The availability of the product in a short displayed text; UNKNOWN if it states none."""
    lowered = _POSSIBLE_BACKORDER.sub("", collapse_spaces(text).lower())
    if _OTHER_SUBJECT.search(lowered):
        return Availability.UNKNOWN
    if _OUT.search(lowered):
        return Availability.OUT_OF_STOCK
    if _BACK.search(lowered):
        return Availability.BACKORDER
    return Availability.IN_STOCK if _IN.search(lowered) else Availability.UNKNOWN


def stock_phrases(texts: list[str], max_length: int = 1000) -> list[tuple[int, Availability]]:
    """The indexes and availabilities of the texts that state one; fast for many texts that do not."""
    joined = "\x00".join(texts).lower()
    if joined.count("\x00") != len(texts) - 1:
        return []
    starts = _starts(joined)
    hits: set[int] = set()
    for stem in _STEMS:
        position = joined.find(stem)
        while position >= 0:
            hits.add(bisect_right(starts, position) - 1)
            position = joined.find(stem, position + len(stem))
    found: list[tuple[int, Availability]] = []
    for index in sorted(hits):
        text = collapse_spaces(texts[index])
        state = text_availability(text) if len(text) <= max_length else Availability.UNKNOWN
        if state is not Availability.UNKNOWN:
            found.append((index, state))
    return found


def _starts(text: str) -> list[int]:
    starts = [0]
    position = text.find("\x00")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\x00", position + 1)
    return starts


def is_buy_button(text: str) -> bool:
    """Whether the label of a button means "add to cart" or "buy"."""
    return _BUY.search(collapse_spaces(text).lower()) is not None
