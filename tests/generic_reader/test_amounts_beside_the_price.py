"""Amounts next to the price that are not the price, in many languages, with and without telling class names."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

import pytest

from tests.generic_reader.pages import outcome


class Shop(NamedTuple):
    domain: str
    basket: str
    button: str
    related: str
    other_price: str
    terms: str


SHOPS = {
    "en-GB": Shop("www.homegoods.co.uk", "Basket (0)", "Add to basket", "You may also like", "£12.50", "Terms and conditions"),
    "en-US": Shop("www.homegoods.com", "Cart (0)", "Add to cart", "Customers also bought", "$12.50", "Terms of use"),
    "en-CA": Shop("www.homegoods.ca", "Cart (0)", "Add to cart", "Customers also bought", "$12.50", "Terms of use"),
    "de-DE": Shop("www.hausrat.de", "Warenkorb (0)", "In den Warenkorb", "Das könnte Ihnen auch gefallen", "12,50 €", "AGB"),
    "de-CH": Shop("www.hausrat.ch", "Warenkorb (0)", "In den Warenkorb", "Ähnliche Produkte", "CHF 12.50", "AGB"),
    "fr-FR": Shop("www.maisonplus.fr", "Panier (0)", "Ajouter au panier", "Vous aimerez aussi", "12,50 €", "Conditions générales de vente"),
    "es-ES": Shop("www.casaviva.es", "Carrito (0)", "Añadir al carrito", "Productos relacionados", "12,50 €", "Condiciones de venta"),
    "es-MX": Shop("www.casaviva.com.mx", "Carrito (0)", "Agregar al carrito", "También te puede interesar", "$125.00", "Términos y condiciones"),
    "it-IT": Shop("www.casabella.it", "Carrello (0)", "Aggiungi al carrello", "Prodotti correlati", "12,50 €", "Condizioni di vendita"),
    "pl-PL": Shop("www.domowo.pl", "Koszyk (0)", "Dodaj do koszyka", "Podobne produkty", "52,50 zł", "Regulamin"),
    "cs-CZ": Shop("www.domacnost.cz", "Košík (0)", "Do košíku", "Související produkty", "325 Kč", "Obchodní podmínky"),
    "pt-BR": Shop("www.casanova.com.br", "Carrinho (0)", "Comprar", "Quem viu também comprou", "R$ 62,50", "Termos de uso"),
    "nl-NL": Shop("www.huisraad.nl", "Winkelwagen (0)", "In winkelwagen", "Anderen bekeken ook", "€ 12,50", "Algemene voorwaarden"),
    "sv-SE": Shop("www.hemvaror.se", "Varukorg (0)", "Lägg i varukorgen", "Liknande produkter", "125 kr", "Köpvillkor"),
    "ja-JP": Shop("www.kurashi.jp", "カート (0)", "カートに入れる", "関連商品", "1,250円", "特定商取引法に基づく表記"),
    "zh-CN": Shop("www.jiaju.cn", "购物车 (0)", "加入购物车", "猜你喜欢", "¥125.00", "服务条款"),
    "ru-RU": Shop("www.domtovar.ru", "Корзина (0)", "В корзину", "Похожие товары", "1 250 ₽", "Пользовательское соглашение"),
    "tr-TR": Shop("www.evesyasi.com.tr", "Sepetim (0)", "Sepete Ekle", "Benzer Ürünler", "125,00 TL", "Kullanım koşulları"),
    "hu-HU": Shop("www.otthon.hu", "Kosár (0)", "Kosárba", "Hasonló termékek", "3 250 Ft", "Általános szerződési feltételek"),
    "ro-RO": Shop("www.casamea.ro", "Coș (0)", "Adaugă în coș", "Produse similare", "52,50 Lei", "Termeni și condiții"),
}  # fmt: skip


class Case(NamedTuple):
    """`{name:text}` is an element, `[amount]` an element inside; those named header-… stand in the header."""

    kind: str
    lang: str
    title: str
    price: str
    right: str
    layout: str
    plain: bool = True


CASES = [
    # Levies and deposits
    Case("eco tax", "fr-FR", "Lave-linge Bosch WAN28", "499,00 €", "499.00 EUR", "{price} {eco-part:dont [8,00 €] d'éco-participation}"),
    Case("eco tax", "it-IT", "Lavatrice Bosch WAN28", "499,00 €", "499.00 EUR", "{price} {raee:Contributo RAEE incluso: [4,00 €]}"),
    Case("eco tax", "en-GB", "Bosch Washing Machine WAN28", "£499.00", "499.00 GBP", "{price} {weee:Includes a WEEE levy of [£2.50]}"),
    Case("eco tax first", "fr-FR", "Lave-linge Bosch WAN28", "499,00 €", "499.00 EUR", "{eco-part:Éco-participation : [8,00 €]} {price}"),
    Case("deposit", "de-DE", "Mineralwasser Kasten 12 x 1 l", "17,99 €", "17.99 EUR", "{price} {pfand:zzgl. [3,30 €] Pfand}"),
    Case("deposit", "sv-SE", "Läsk 24-pack 33 cl", "149 kr", "149.00 SEK", "{price} {pant:+ pant [24 kr]}"),
    Case("deposit", "en-GB", "Ginger Beer, case of 12", "£21.60", "21.60 GBP", "{price} {deposit:plus [£2.40] bottle deposit}"),
    Case("pickup deposit", "en-GB", "Garden Shed 6x4", "£349.00", "349.00 GBP", "{price} {reserve:Reserve in store: pay a [£20.00] deposit on collection}"),
    Case("pickup deposit", "nl-NL", "Tuinhuis 180 x 120", "€ 349,00", "349.00 EUR", "{price} {reserve:Reserveer in de winkel met [€ 25,00] aanbetaling}"),
    Case("recycling fee", "en-CA", "Samsung 43 inch TV", "$429.99", "429.99 CAD", "{price} {ehf:Environmental handling fee: [$6.00]}"),
    Case("recycling fee", "de-CH", "Samsung Fernseher 43 Zoll", "CHF 429.00", "429.00 CHF", "{price} {vrg:inkl. vorgezogene Recyclinggebühr (vRG) [CHF 2.50]}"),
    # Energy labels
    Case("energy label", "en-GB", "Bosch Washing Machine WAN28", "£499.00", "499.00 GBP", "{energy:A+++ [235 kWh/annum] 44 L per cycle} {price}"),
    Case("energy label", "de-DE", "Bosch Waschmaschine WAN28", "499,00 €", "499.00 EUR", "{price} {energy:Energieeffizienzklasse A+++ [235 kWh/Jahr]}"),
    Case("running cost", "en-US", "Bosch Washing Machine WAN28", "$499.00", "499.00 USD", "{price} {energy:Estimated yearly energy cost: [$14.00]}"),
    Case("running cost", "de-DE", "Bosch Waschmaschine WAN28", "499,00 €", "499.00 EUR", "{price} {energy:Stromkosten pro Jahr: ca. [71,00 €]}"),
    # Prices of another quantity
    Case("unit price", "de-DE", "Olivenöl nativ extra 500 ml", "9,99 €", "9.99 EUR", "{price} {grundpreis:([19,98 €]/l)}"),
    Case("unit price", "en-GB", "Colombian Coffee Beans 400g", "£5.00", "5.00 GBP", "{price} {unit:[£1.25] per 100g}"),
    Case("unit price", "fr-FR", "Café en grains 800 g", "9,99 €", "9.99 EUR", "{price} {unit:soit [12,49 €] le kg}"),
    Case("unit price", "ja-JP", "コーヒー豆 500g", "990円(税込)", "990 JPY", "{price} {unit:100gあたり [198円]}"),
    Case("unit price first", "de-DE", "Olivenöl nativ extra 500 ml", "9,99 €", "9.99 EUR", "{grundpreis:1 l = [19,98 €]} {price}"),
    Case("bulk price", "en-GB", "A4 Copier Paper 500 sheets", "£4.99", "4.99 GBP", "{price} {bulk:Buy 10 or more: [£4.49] each}"),
    Case("bulk price", "pl-PL", "Papier ksero A4 500 ark.", "19,99 zł", "19.99 PLN", "{price} {bulk:od 10 szt.: [17,50 zł]/szt.}"),
    Case("bulk price", "de-DE", "Kopierpapier A4 500 Blatt", "4,99 €", "4.99 EUR", "{price} {staffel:ab 10 Stück je [4,49 €]}"),
    # Prices of other customers
    Case("member price", "en-GB", "Cordless Drill 18V", "£99.00", "99.00 GBP", "{price} {member:Club members pay [£89.00] – join for free}"),
    Case("member price", "hu-HU", "Akkus fúró 18 V", "29 990 Ft", "29990.00 HUF", "{price} {member:Klubkártyával: [26 990 Ft]}"),
    Case("member price", "sv-SE", "Borrmaskin 18 V", "899 kr", "899.00 SEK", "{price} {member:Medlemspris [799 kr]}"),
    Case("member price", "zh-CN", "充电电钻 18V", "¥299.00", "299.00 CNY", "{price} {member:PLUS会员价 [¥269.00]}", False),
    Case("card holders", "ru-RU", "Дрель аккумуляторная 18 В", "6 990 ₽", "6990.00 RUB", "{price} {member:[6 490 ₽] с картой клуба}"),
    Case("tax free", "ja-JP", "コードレスドリル 18V", "19,800円(税込)", "19800 JPY", "{price} {taxfree:免税価格 [18,000円]}"),
    Case("tax free", "es-ES", "Taladro inalámbrico 18 V", "99,99 €", "99.99 EUR", "{price} {taxfree:Precio tax free para no residentes: [82,64 €]}"),
    Case("without VAT", "en-GB", "Cordless Drill 18V", "£99.99", "99.99 GBP", "{price} {net:[£83.33] ex VAT}"),
    Case("without VAT", "cs-CZ", "Aku vrtačka 18 V", "499 Kč", "499.00 CZK", "{price} {net:[412,40 Kč] bez DPH}"),
    Case("without VAT", "pl-PL", "Wkrętarka 18 V", "99,99 zł", "99.99 PLN", "{price} {net:[81,29 zł] netto}"),
    Case("without VAT first", "sv-SE", "Borrmaskin 18 V", "999 kr", "999.00 SEK", "{net:[799,20 kr] exkl. moms} {price}"),
    Case("other currency", "en-GB", "Cordless Drill 18V", "£16.90", "16.90 GBP", "{price} {converted:approx. [US$ 21.40]}"),
    Case("other currency", "de-CH", "Akkubohrer 18 V", "CHF 99.00", "99.00 CHF", "{price} {converted:ca. [104,30 €]}"),
    Case("other currency", "ja-JP", "コードレスドリル 18V", "3,000円(税込)", "3000 JPY", "{price} {converted:約 [US$20.10]}"),
    # Other offers
    Case("trade-in", "en-GB", "Pixel 9 128GB", "£799.00", "799.00 GBP", "{price} {tradein:Get up to [£250.00] when you trade in your old phone}"),
    Case("trade-in", "de-DE", "Pixel 9 128 GB", "799,00 €", "799.00 EUR", "{price} {tradein:Altgerät eintauschen: bis zu [180,00 €] Ankaufwert}"),
    Case("trade-in", "es-ES", "Pixel 9 128 GB", "799,00 €", "799.00 EUR", "{price} {tradein:Entrega tu móvil usado y recibe hasta [150,00 €]}"),
    Case("used offer", "en-GB", "Kindle Paperwhite", "£149.99", "149.99 GBP", "{price} {button} {used:Used – very good from [£114.99]}"),
    Case("used offer", "de-DE", "Kindle Paperwhite", "149,99 €", "149.99 EUR", "{price} {button} {used:Generalüberholt ab [119,00 €]}"),
    Case("used offer", "fr-FR", "Kindle Paperwhite", "149,99 €", "149.99 EUR", "{price} {button} {used:Aussi disponible reconditionné : [119,00 €]}"),
    Case("other sellers", "en-GB", "Kindle Paperwhite", "£149.99", "149.99 GBP", "{price} {button} {sellers:4 other sellers from [£139.49]}"),
    Case("other sellers", "fr-FR", "Kindle Paperwhite", "149,99 €", "149.99 EUR", "{price} {button} {sellers:4 autres vendeurs à partir de [135,90 €]}"),
    Case("other sellers", "tr-TR", "Kindle Paperwhite", "4.499,00 TL", "4499.00 TRY", "{price} {button} {sellers:Diğer satıcılar (5): [4.250,00 TL]'den başlayan fiyatlarla}"),
    Case("bundle", "en-GB", "Nonstick Pan 28cm", "£34.99", "34.99 GBP", "{price} {button} {bundle:Frequently bought together: buy all three for [£64.98]}"),
    Case("bundle", "de-DE", "Bratpfanne 28 cm", "34,90 €", "34.90 EUR", "{price} {button} {bundle:Wird oft zusammen gekauft. Gesamtpreis: [84,90 €]}"),
    Case("bundle", "es-ES", "Sartén antiadherente 28 cm", "34,90 €", "34.90 EUR", "{price} {button} {bundle:Comprar los dos juntos por [54,90 €]}"),
    Case("subscription", "en-GB", "Colombian Coffee Beans 1kg", "£19.99", "19.99 GBP", "{price} {subscribe:Subscribe & save 10%: [£17.99] every 2 months}"),
    Case("subscription", "de-DE", "Kaffeebohnen 1 kg", "18,99 €", "18.99 EUR", "{price} {abo:Im Spar-Abo: [16,14 €] pro Lieferung}"),
    Case("subscription", "fr-FR", "Café en grains 1 kg", "18,99 €", "18.99 EUR", "{price} {abo:Abonnez-vous et économisez 10 % : [17,09 €] par livraison}"),
    # Coupons, savings, gifts
    Case("coupon", "en-US", "Colombian Coffee Beans 2 lb", "$24.99", "24.99 USD", "{price} {coupon:Apply [$5.00] coupon at checkout}"),
    Case("coupon", "it-IT", "Caffè in grani 1 kg", "18,99 €", "18.99 EUR", "{price} {coupon:Coupon: risparmia altri [5,00 €]}"),
    Case("coupon", "zh-CN", "咖啡豆 1kg", "¥128.00", "128.00 CNY", "{price} {coupon:领券立减 [20元]}"),
    Case("price with coupon", "zh-CN", "咖啡豆 1kg", "¥128.00", "128.00 CNY", "{price} {coupon:券后价 [¥108.00]}", False),
    Case("price with coupon", "tr-TR", "Çekirdek Kahve 1 kg", "489,90 TL", "489.90 TRY", "{price} {coupon:Kuponla [449,90 TL]}", False),
    Case("saving", "en-GB", "Nonstick Pan 28cm", "£39.99", "39.99 GBP", "{price} {was:Was [£49.99]} {saving:You save [£10.00] (20%)}"),
    Case("saving", "es-ES", "Sartén antiadherente 28 cm", "39,90 €", "39.90 EUR", "{price} {was:Antes [59,90 €]} {saving:Ahorras [20,00 €]}"),
    Case("saving", "nl-NL", "Koekenpan 28 cm", "€ 34,95", "34.95 EUR", "{price} {saving:Je bespaart [€ 15,00]}"),
    Case("saving", "hu-HU", "Serpenyő 28 cm", "9 990 Ft", "9990.00 HUF", "{price} {saving:Megtakarítás: [2 000 Ft]}"),
    Case("cashback", "de-DE", "Kaffeevollautomat EQ6", "649,00 €", "649.00 EUR", "{price} {cashback:Jetzt [50,00 €] Cashback vom Hersteller}"),
    Case("cashback", "fr-FR", "Machine à café EQ6", "649,00 €", "649.00 EUR", "{price} {cashback:[50,00 €] remboursés par la marque}"),
    Case("free gift", "en-GB", "Espresso Machine EQ6", "£649.00", "649.00 GBP", "{price} {gift:Free gift worth [£15.00] with this item}"),
    Case("free gift", "es-ES", "Cafetera EQ6", "649,00 €", "649.00 EUR", "{price} {gift:Incluye un regalo valorado en [25,00 €]}"),
    Case("free gift", "it-IT", "Macchina da caffè EQ6", "649,00 €", "649.00 EUR", "{price} {gift:In omaggio un macinacaffè del valore di [49,00 €]}"),
    Case("price match", "en-GB", "Espresso Machine EQ6", "£649.00", "649.00 GBP", "{price} {match:Found it cheaper? We refund the difference, up to [£50.00]}"),
    Case("price match", "nl-NL", "Espressomachine EQ6", "€ 649,00", "649.00 EUR", "{price} {match:Elders goedkoper? Wij betalen het verschil tot [€ 25,00] terug}"),
    Case("points", "en-GB", "Espresso Machine EQ6", "£649.00", "649.00 GBP", "{price} {points:Earn 649 points worth [£6.49]}"),
    Case("points", "ja-JP", "エスプレッソマシン EQ6", "64,900円(税込)", "64900 JPY", "{price} {points:[6,490ポイント] 10%還元}"),
    Case("points", "nl-NL", "Espressomachine EQ6", "€ 649,00", "649.00 EUR", "{price} {points:Spaar 649 punten t.w.v. [€ 6,49]}"),
    # Earlier prices
    Case("lowest of 30 days", "pl-PL", "Ekspres do kawy EQ6", "2 699,00 zł", "2699.00 PLN", "{price} {omnibus:Najniższa cena z 30 dni przed obniżką: [2 599,00 zł]}"),
    Case("lowest of 30 days", "de-DE", "Kaffeevollautomat EQ6", "649,00 €", "649.00 EUR", "{price} {omnibus:Niedrigster Preis der letzten 30 Tage: [629,00 €]}"),
    Case("lowest of 30 days", "cs-CZ", "Kávovar EQ6", "14 990 Kč", "14990.00 CZK", "{price} {omnibus:Nejnižší cena za posledních 30 dní: [13 990 Kč]}"),
    Case("lowest of 30 days", "it-IT", "Macchina da caffè EQ6", "649,00 €", "649.00 EUR", "{price} {omnibus:Prezzo più basso degli ultimi 30 giorni: [599,00 €]}"),
    Case("lowest of 30 days", "ro-RO", "Espressor EQ6", "2.999,00 Lei", "2999.00 RON", "{price} {omnibus:Cel mai mic preț din ultimele 30 de zile: [2.899,00 Lei]}"),
    # Delivery, services, instalments
    Case("free shipping", "cs-CZ", "Pánev 28 cm", "899 Kč", "899.00 CZK", "{price} {shipping:Doprava zdarma od [1 500 Kč]}"),
    Case("free shipping", "ro-RO", "Tigaie 28 cm", "149,90 Lei", "149.90 RON", "{price} {shipping:Transport gratuit la comenzi peste [250,00 Lei]}"),
    Case("free shipping", "pl-PL", "Patelnia 28 cm", "129,00 zł", "129.00 PLN", "{shipping:Darmowa dostawa od [199,00 zł]} {price}"),
    Case("free shipping", "en-US", "Nonstick Pan 11 inch", "$29.99", "29.99 USD", "{price} {shipping:FREE delivery on orders over [$35.00]}"),
    Case("shipping cost", "en-GB", "Nonstick Pan 28cm", "£34.99", "34.99 GBP", "{price} {shipping:+ [£3.99] delivery}"),
    Case("shipping cost", "hu-HU", "Serpenyő 28 cm", "9 990 Ft", "9990.00 HUF", "{price} {shipping:Szállítási díj: [1 490 Ft]}"),
    Case("minimum order", "en-GB", "Colombian Coffee Beans 400g", "£5.00", "5.00 GBP", "{price} {minimum:Minimum order value [£30.00]}"),
    Case("minimum order", "de-DE", "Kaffeebohnen 500 g", "8,99 €", "8.99 EUR", "{price} {minimum:Mindestbestellwert [25,00 €]}"),
    Case("minimum order", "ru-RU", "Кофе в зёрнах 500 г", "690 ₽", "690.00 RUB", "{price} {minimum:Минимальная сумма заказа [1 500 ₽]}"),
    Case("warranty", "en-GB", "Espresso Machine EQ6", "£649.00", "649.00 GBP", "{price} {protect:Add a 3-year protection plan for [£59.99]} {button}"),
    Case("warranty", "de-DE", "Kaffeevollautomat EQ6", "649,00 €", "649.00 EUR", "{price} {garantie:Garantieverlängerung auf 5 Jahre [69,99 €]} {button}"),
    Case("warranty", "pt-BR", "Cafeteira Expresso EQ6", "R$ 2.499,00", "2499.00 BRL", "{price} {garantia:Garantia estendida 12 meses: [R$ 189,90]} {button}"),
    Case("installation", "de-DE", "Bosch Waschmaschine WAN28", "499,00 €", "499.00 EUR", "{price} {service:Anschluss-Service dazu buchen: [49,00 €]} {button}"),
    Case("installation", "en-GB", "Bosch Washing Machine WAN28", "£499.00", "499.00 GBP", "{price} {service:Add installation [£40.00]} {button}"),
    Case("instalments", "pt-BR", "Cafeteira Elétrica 15 xícaras", "R$ 303,00", "303.00 BRL", "{price} {parcelas:12x [R$ 25,25] sem juros}"),
    Case("instalments", "en-GB", "Nonstick Pan Set", "£99.00", "99.00 GBP", "{price} {klarna:or 3 interest-free payments of [£33.00] with Klarna}"),
    Case("instalments", "es-MX", "Cafetera 15 tazas", "$999.00", "999.00 MXN", "{price} {meses:12 meses sin intereses de [$83.25]}"),
    Case("instalments", "tr-TR", "Kahve Makinesi", "999,90 TL", "999.90 TRY", "{price} {taksit:9 ay taksitle ayda [111,10 TL]}"),
    Case("instalments", "cs-CZ", "Kávovar EQ6", "6 290 Kč", "6290.00 CZK", "{splatky:na splátky od [202 Kč] měsíčně} {price}"),
    Case("price by transfer", "pt-BR", "Cafeteira Elétrica 15 xícaras", "R$ 303,00", "303.00 BRL", "{price} {pix:[R$ 287,85] no Pix (5% de desconto)}", False),
    # Counters
    Case("sales counter", "zh-CN", "不锈钢保温杯 500ml", "¥128.00", "128.00 CNY", "{sold:已售出 [35]} {price}"),
    Case("sales counter", "en-GB", "Insulated Bottle 500ml", "£18.00", "18.00 GBP", "{price} {sold:[1.2k] sold}"),
    Case("sales counter", "pt-BR", "Garrafa Térmica 500 ml", "R$ 89,90", "89.90 BRL", "{sold:+[500] vendidos} {price}"),
    Case("reviews", "en-GB", "Insulated Bottle 500ml", "£18.00", "18.00 GBP", "{rating:4.6 ([1,234])} {price}"),
    Case("reviews", "de-DE", "Thermosflasche 500 ml", "18,00 €", "18.00 EUR", "{rating:4,7 von 5 ([2.381] Bewertungen)} {price}"),
    Case("reviews", "ru-RU", "Термос 500 мл", "1 890 ₽", "1890.00 RUB", "{rating:4,9 · [128] отзывов} {price}"),
    # Totals in the header
    Case("empty cart", "fr-FR", "Gourde isotherme 500 ml", "18,00 €", "18.00 EUR", "{header-cart:Panier (0) [0,00 €]} {price}"),
    Case("empty cart", "de-DE", "Thermosflasche 500 ml", "18,00 €", "18.00 EUR", "{header-cart:Warenkorb [0,00 €]*} {price}"),
    Case("full cart", "en-GB", "Insulated Bottle 500ml", "£18.00", "18.00 GBP", "{header-cart:Basket (2) [£45.80]} {price}"),
    Case("full cart", "cs-CZ", "Termoska 500 ml", "499 Kč", "499.00 CZK", "{header-cart:Košík [1 250 Kč]} {price}"),
]  # fmt: skip


def hashed(name: str) -> str:
    """A class name as build tools make it: stable, and without a meaning."""
    number = zlib.crc32(name.encode())
    return f"css-{number:x}" if number % 2 else f"_{number:x}"


def product_page(case: Case, telling: bool) -> str:
    shop = SHOPS[case.lang]

    def css(name: str) -> str:
        return f'class="{name if telling else hashed(name)}"'

    def part(found: re.Match[str]) -> str:
        name, words = found["name"], found["words"]
        inner = re.sub(r"\[(.+?)\]", rf"<span {css(name + '-value')}>\1</span>", words)
        return f"<div {css(name)}>{inner}</div>"

    parts = [
        part(found) for found in re.finditer(r"\{(?P<name>header-[\w-]+):(?P<words>[^}]*)\}", case.layout)
    ]
    layout = re.sub(r"\{header-[^}]*\}", "", case.layout)
    layout += "" if "{button}" in layout else " {button}"
    layout = re.sub(r"\{(?P<name>[\w-]+):(?P<words>[^}]*)\}", part, layout)
    layout = layout.replace(
        "{price}", f"<div {css('product-price')}><span {css('price-current')}>{case.price}</span></div>"
    )
    layout = layout.replace(
        "{button}", f'<button type="button" {css("add-to-cart")}><span>{shop.button}</span></button>'
    )
    cards = "".join(
        f'<li {css("card")}><a href="/p/{name.lower()}-{number}"><img src="/i/{number}.jpg" alt="{name}"><h3>{name}</h3></a>'
        f"<span {css('card-price')}>{shop.other_price}</span></li>"
        for number, name in enumerate(("Aqualine", "Terrano", "Solaris"), 300)
    )
    return f"""<!doctype html>
<html lang="{case.lang}"><head><meta charset="utf-8"><title>{case.title} | {shop.domain}</title></head><body>
<header {css("header")}><a href="/" {css("logo")}>{shop.domain}</a><a href="/cart">{shop.basket}</a>{"".join(parts)}</header>
<main {css("product")}><div {css("gallery")}><img src="/i/1.jpg" alt="{case.title}"></div>
<div {css("info")}><h1 {css("title")}>{case.title}</h1>
{layout}</div>
<section {css("related")}><h2>{shop.related}</h2><ul {css("cards")}>{cards}</ul></section></main>
<footer {css("footer")}><a href="/terms">{shop.terms}</a> © 2024 {shop.domain}</footer></body></html>"""


def name_of(case: Case) -> str:
    return f"{case.kind}, {case.lang[:2]}"


def amount_first(case: Case) -> Case:
    """The same page with the price last, so that another amount is the nearest to the title."""
    others = case.layout.replace("{price}", "").replace("{button}", "")
    return case._replace(layout=f"{others} {{price}}")


def read(case: Case, telling: bool) -> str:
    return outcome(product_page(case, telling), f"https://{SHOPS[case.lang].domain}/p/item-1234")


@pytest.mark.parametrize("telling", [True, False], ids=["telling names", "hashed names"])
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_other_amounts_are_never_taken(case, telling):
    for order in (case, amount_first(case)):
        result = read(order, telling)
        refused = " " not in result
        assert refused or result in (f"{case.right} IN_STOCK", f"{case.right} UNKNOWN")


@pytest.mark.parametrize("telling", [True, False], ids=["telling names", "hashed names"])
@pytest.mark.parametrize("case", [case for case in CASES if case.plain], ids=name_of)
def test_price_is_read_beside_other_amounts(case, telling):
    assert read(case, telling) == f"{case.right} IN_STOCK"
