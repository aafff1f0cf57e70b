"""Words for the state of stock, in the languages of shops; all in lower case."""

from __future__ import annotations

import re

from pricewatch.parsing.phrase_table import PhrasePattern

# Checked before IN, because "not in stock" contains "in stock".
OUT = PhrasePattern(
    r"""
    en: out[- ]of[- ]stock; sold[- ]out; (?:currently|temporarily) (?:unavailable|out); none left
    en: not (?:currently |yet )?available; no longer available; unavailable; not in stock; no stock
    en: discontinued; notify me when; email (?:me )?when; back in stock (?:soon|notification|alert)
    en: coming soon
    de: nicht (?:mehr )?(?:lieferbar|verfügbar|vorrätig|auf lager|erhältlich|bestellbar|im sortiment)
    de: ausverkauft; vergriffen; abverkauft; (?:derzeit|momentan|leider|zurzeit|aktuell) nicht
    de: benachrichtig\w* sobald; kein (?:lager)?bestand
    de: (?:bald|demnächst) (?:wieder )?(?:verfügbar|lieferbar)
    fr: rupture(?: de stock)?; [ée]puis[ée]e?s?; indisponibles?; (?:non|pas|plus) (?:disponibles?|en stock)
    fr: hors stock; victime de son succès; prévenez-moi; bientôt disponible; plus commercialisé
    es: agotad[oa]s?; sin (?:stock|existencias|inventario|disponibilidad); descatalogad[oa]
    es: no (?:está |se encuentra )?disponibles?; fuera de stock; no hay (?:stock|existencias)
    es: av[ií]same cuando
    es: próximamente; no tenemos (?:stock|existencias); sin unidades
    it: esaurit[oaie]; non (?:è )?(?:più )?(?:al momento )?disponibil[ei]; terminat[oa]; fuori produzione
    it: (?:attualmente|momentaneamente) non; avvisami quando; disponibile prossimamente
    pt: esgotad[oa]s?; indispon[ií]vel; sem (?:estoque|stock|disponibilidade|existências); descontinuad[oa]
    pt: fora de (?:estoque|stock); avise-me; n[ãa]o (?:está )?dispon[ií]vel; r[uo]p?tura de stock
    nl: uitverkocht; niet (?:meer |langer )?(?:op voorraad|leverbaar|beschikbaar|verkrijgbaar|bestelbaar)
    nl: (?:momenteel|tijdelijk|helaas) niet; geen voorraad; uit assortiment
    nl: binnenkort (?:weer )?(?:leverbaar|beschikbaar|verkrijgbaar)
    pl: wyprzedan[yeao]; brak (?:w magazynie|na stanie|towaru|produktu|w sklepie); niedostępn\w+
    pl: chwilowo brak; wyczerpan[yao]; powiadom (?:mnie )?o dostępności; wycofan[yeao]; nie ma w magazynie
    cs: vyprod[aá]n[oyáéý]?; není (?:na )?sklad\w+; nedostupn\w+; není dostupn\w+; prodej ukončen
    cs: (?:momentálně|dočasně) (?:ne|vyprod)\w+; hlídat dostupnost; ukončen[ao]? (?:prodej|výroba)
    sk: vypredan[éýáoy]; nie je (?:na sklad\w+|skladom|dostupn\w+); (?:momentálne|dočasne) (?:ne|vypred)\w+
    sk: predaj ukončený; strážiť dostupnosť
    hu: elfogyott; nincs (?:készleten|raktáron); nem (?:elérhető|kapható|rendelhető); készlethiány
    hu: kifutott termék; (?:jelenleg|átmenetileg) nem
    ro: stoc epuizat; epuizat[ăa]?; indisponibil[ăae]?
    ro: nu (?:este|e|mai este) (?:disponibil\w*|(?:[iî]n|pe) stoc)
    ro: f[ăa]r[ăa] stoc; lips[ăa] (?:[iî]n |din )?stoc
    bg: изчерпан[оаи]?; няма (?:в )?наличност; няма на склад; не е (?:наличен|налично|налична|в наличност)
    bg: неналич(?:ен|но|на); извън наличност; разпродаден[оа]?
    hr sr bs: nema na (?:stanju|zalihi|zalihama|skladištu|lageru); rasprodan[oai]?; rasprodato
    hr sr bs: nedostup(?:no|na|an)
    hr sr bs: nije (?:dostup(?:no|an|na)|raspoloživ\w*|na (?:zalihi|stanju|lageru|skladištu))
    sr mk: нема на (?:стању|лагеру|залихама|залиха); није (?:доступно|на стању|на лагеру); распродато
    sr mk: распродадено
    sl: razprodan[oaie]?; ni (?:več )?(?:na (?:voljo|zalogi)|dobavljiv\w*); trenutno ni
    el: εξαντλ[ήη]θηκε; εξαντλημ[έε]ν[οαη]; μη διαθ[έε]σιμ\w+; δεν (?:ε[ίι]ναι )?διαθ[έε]σιμ\w+
    el: εκτ[όο]ς αποθ[έε]ματος; χωρίς απόθεμα; δεν υπάρχει (?:σε )?απόθεμα
    sv: slutsåld[at]?; slut i lager; (?:ej|inte) (?:längre )?(?:i lager|tillgänglig\w*)
    sv: (?:tillfälligt|tyvärr) slut
    sv: slut på lager; utgått; finns (?:ej|inte) i lager
    no: utsolgt; ikke på lager; ikke (?:lenger )?tilgjengelig; tomt på lager
    da: udsolgt; ikke på lager; ikke (?:længere )?tilgængelig; udgået; ej på lager
    fi: loppu; loppuunmyyty; ei varastossa; ei ole (?:saatavilla|varastossa|saatavana); ei saatavilla
    fi: poistunut (?:valikoimasta|tuote)
    et: läbi müüdud; välja müüdud; (?:laost|toode|kaup|hetkel) otsas; (?:pole|ei ole) (?:laos|saadaval)
    lv: izpārdot[sai]; nav (?:pieejam[sai]|noliktavā|krājumā|uz vietas)
    lt: išparduot[aoi]s?; išpirkt[ao]s?; nėra (?:sandėlyje|prekyboje|likučio); prekės nėra; laikinai nėra
    lt: neturime
    ru: нет (?:в наличии|на складе|в продаже|товара); распродан\w*; законч\w+; отсутствует; недоступ\w+
    ru: раскуплен\w*; сня\w+ с производства; (?:сообщить|уведомить) о (?:поступлении|наличии); временно нет
    ru: скоро в продаже
    uk: нема(?:є)? (?:в|у) наявності; немає на складі; відсутн\w+; закінчи\w+; розпродан\w*
    uk: повідомити про наявність; знят\w+ з виробництва; скоро (?:у|в) продажу
    tr: tükendi; tükenmiştir; stokta (?:yok|bulunmuyor|kalmad[ıi]); stok(?:lar)? (?:yok|tükendi); mevcut değil
    tr: gelince haber ver; temin edilemiyor; satışta değil
    he: אזל; אזלה; לא (?:במלאי|זמין|זמינה|קיים במלאי); חסר במלאי; אין במלאי
    ar: غير (?:متوفر|متوفرة|متاح|متاحة|موجود); نفد; نفدت; نفذت الكمية; انتهى المخزون; نفاد الكمية
    vi: hết hàng; tạm hết; không có sẵn; không còn hàng; cháy hàng; ngừng (?:kinh doanh|bán)
    vi: ngưng (?:kinh doanh|bán)
    id ms: stok (?:habis|kosong); habis; habis terjual; kehabisan stok; tidak tersedia; tiada stok
    id ms: tidak ada stok
    ja: 在庫切れ; 売り切れ; 売切; 品切れ; 在庫[な無]し; 在庫[がは](?:ありません|ございません); 入荷待ち; 完売
    ja: 欠品; 廃番
    ja: 販売(?:を)?終了; 取(?:り)?扱(?:い)?終了; 生産終了; 再入荷(?:通知|の?お知らせ|待ち); 入荷お知らせ
    ko: 품절; 재고 ?없음; 재고가 없; 매진; 판매 ?(?:종료|중지); 단종; 재입고 ?알림; 구매 ?불가
    zh: 售完; 缺貨; 缺货; 售罄; 無庫存; 无库存; 沒有庫存; 没有库存; 補貨中; 补货中; 無貨; 无货
    zh: 暂无(?:现货|库存|货)
    zh: 暫無(?:現貨|庫存|貨); 已下架; 停產; 停产; 到貨通知; 貨到通知; 到货通知; 斷貨; 断货; 庫存不足; 库存不足
    th: สินค้าหมด; หมดสต[็๊]อ[กค]; ไม่มีสินค้า; ของหมด; ไม่พร้อม(?:จำหน่าย|ขาย)
    hi: स्टॉक में नहीं; स्टॉक से बाहर; स्टॉक ख़?त्म; उपलब्ध नहीं; बिक गया
    """
)

BACK = PhrasePattern(
    r"""
    en: pre[- ]?order(?:ed|s)?; back[- ]?order(?:ed|s)?; made to order; built to order; special order
    en: ships? when available; available (?:to|on|for) (?:pre-?|back-?)?order
    de: vorbestell\w*; auf (?:nach)?bestellung; bei nachbestellung; nachbestellt; lieferrückstand
    de: auf anfrage lieferbar
    fr: pr[ée]commande\w*; sur commande; en réapprovisionnement; réassort
    es: preventa; bajo pedido; por encargo; para reserva; pre-?venta; sobre pedido
    it: preordin\w*; pre-ordin\w*; su ordinazione; in arrivo; prevendita
    pt: pr[ée][- ]venda; (?:sob|por) encomenda; encomenda; pr[ée][- ]encomenda
    nl: pre-?orderen; op bestelling; (?:via |in )?nabestelling
    pl: przedsprzedaż; na zamówienie; zamów przed premierą; oczekiwanie na dostawę
    cs: předobjedn\w*; na objednávku; očekáváme
    sk: predobjedn\w*; na objednávku; očakávame; na ceste
    hu: előrendel\w*; rendelésre; előjegyezhető; beérkezés alatt; előjegyzés
    ro: precomand\w*; la comand[aă]; pe comand[aă]; [iî]n curs de aprovizionare
    bg: предварителна поръчка; по поръчка; очаква се
    hr sr bs: prednarudžb\w*; po narudžb\w+; pretprodaja; po porudžbini; u dolasku
    sr mk: по поруџбини; претпродаја; по нарачка
    sl: prednaročil\w*; po naročilu; v prihodu
    el: προπαραγγελ[ίι]\w*; προ-παραγγελ[ίι]\w*; κατ[όο]πιν παραγγελ[ίι]ας; αναμ[έε]νεται
    sv: förbeställ\w*; beställningsvara; förhandsboka; restnoterad; förköp
    no: forhåndsbestill\w*; bestillingsvare; forhåndskjøp
    da: forudbestil\w*; bestillingsvare; skaffevare; restordre
    fi: ennakkotil\w*; tilaustuote; tilauksesta
    et: eeltelli\w*; ettetelli\w*; tellimisel
    lv: priekšpasūt\w*; pēc pasūtījuma; uz pasūtījumu
    lt: išankstin\w+ (?:užsakym|pardavim)\w+; pagal užsakymą; užsakoma prekė
    ru: предзаказ\w*; под заказ; ожидается
    uk: передзамовл\w*; під замовлення; очікується
    tr: ön sipariş; ön satış; siparişe özel; sipariş üzerine
    he: הזמנה מוקדמת; בהזמנה מראש; בהזמנה מיוחדת
    ar: طلب مسبق; الطلب المسبق; حجز مسبق; عند الطلب
    vi: đặt (?:hàng )?trước; hàng đặt; hàng sắp về; sắp về hàng
    id ms: pre-?order; prapesan; pesan dulu
    ja: 予約(?!.{0,4}(?:不要|終了)); 取り?寄せ; 受注生産; 入荷予定
    ko: 예약; 주문 ?제작; 입고 ?예정
    zh: 預購; 预购; 預訂; 预订; 預售; 预售; 訂製; 接单定制; 訂購中
    th: พรีออเดอร์; สั่งจอง; สั่งซื้อล่วงหน้า
    hi: प्री-?ऑर्डर; प्री ऑर्डर
    """
)

IN = PhrasePattern(
    r"""
    en: in[- ]stock; only \d+ left; \d+ (?:pcs |pieces |items |units )?(?:left|available|in stock)
    en: ready to ship
    en: available (?:now|online|for (?:delivery|pickup|shipping)|immediately|to ship); low stock
    en: limited stock
    en: ships (?:today|tomorrow|within|in \d); last (?:one|item|piece|few) left; few left
    de: auf lager; vorrätig; sofort (?:lieferbar|verfügbar|versandfertig|versandbereit); lieferbar; lagernd
    de: verfügbar; nur noch \d+; versandfertig; ab lager; wenige (?:stück|exemplare); lagerware; am lager
    fr: en stock; disponibles?; livraison sous; expédié sous; plus que \d+
    fr: derniers? (?:articles?|exemplaires?)
    es: en existencia; hay existencias; disponibilidad inmediata; envío inmediato; en stock; disponibles?
    es: (?:quedan|últim[oa]s) \d+; últim[oa]s unidades; hay stock; stock disponible
    it: disponibil[ei]; disponibilit[aà] immediata; pronta consegna; in magazzino; ultim[io] pezz[io]
    pt: em estoque; dispon[ií]vel; dispon[ií]veis; em stock; pronta entrega; [uú]ltimas unidades; restam \d+
    nl: op voorraad; leverbaar; direct leverbaar; vandaag (?:besteld|verzonden); nog \d+ (?:op voorraad|stuks)
    nl: beschikbaar; verkrijgbaar; uit voorraad
    pl: w magazynie; dostępn[yae]; na stanie; wysyłka w; ostatnie sztuki; ostatnia sztuka; od ręki
    cs: skladem; na sklad[eě]; dostupn[éýoá]; poslední kus\w*; ihned k (?:odeslání|odběru)
    sk: skladom; na sklade; dostupn[éýoá]; posledné kusy; ihneď k odberu
    hu: készleten; raktáron; elérhető; utolsó \w+ (?:db|darab); rendelhető; azonnal (?:átvehető|szállítható)
    ro: (?:[iî]n|pe) stoc; stoc (?:suficient|limitat|redus); disponibil[ăae]?
    ro: ultimele (?:produse|buc[aă][tțţ]i)
    bg: в наличност; налич(?:ен|но|на|ни); на склад; последни бройки
    hr sr bs: na (?:stanju|zalihi|lageru|zalihama|skladištu); dostup(?:no|an|na); raspoloživo; isporučivo
    sr mk: на (?:стању|лагеру|залихама|залиха); доступно; достапно
    sl: na (?:zalogi|voljo); dobavljivo; dobavljiv; zadnji kosi
    el: διαθ[έε]σιμ[οαη]; [άα]μεσα διαθ[έε]σιμ\w+; σε απ[όο]θεμα; ετοιμοπαρ[άα]δοτ\w+; [άα]μεση παραλαβ[ήη]
    sv: i lager; finns i lager; på lager; (?:få|\d+) kvar; tillgänglig; i webblager; leveransklar
    sv: skickas inom
    no: på lager; få igjen; tilgjengelig; på nettlager; klar til (?:sending|levering)
    da: på lager; få tilbage; tilgængelig; på fjernlager; klar til (?:afsendelse|levering)
    fi: varastossa; heti saatavilla; saatavilla; saatavana; heti toimitukseen; viimeiset kappaleet
    et: on laos; laos (?:olemas|saadaval); saadaval; kohe (?:olemas|saadaval); viimased tooted
    lv: ir noliktavā; noliktavā; pieejam[sai]; ir uz vietas; krājumā
    lt: sandėlyje; yra sandėlyje; turime; yra prekyboje
    ru: в наличии; есть на складе; на складе; доступ(?:ен|но|на); осталось \d+; есть в продаже
    uk: (?:в|у|є в) наявності; є на складі; на складі; готовий до відправ\w+; закінчується
    tr: stokta(?: var)?; stoklar[ıi]m[ıi]zda; mevcut; stokta \d+; son \d+ (?:ürün|adet); hemen teslim
    he: במלאי; קיים במלאי; זמין; זמין במלאי; יש במלאי
    ar: متوفر; متوفرة; متاح; متاحة; في المخزون; متبقي
    vi: còn hàng; có sẵn; sẵn hàng; còn \d+ sản phẩm
    id ms: stok tersedia; tersedia; stok ada; ready stock?; ready stok; ada stok; tinggal \d+; tersisa \d+
    id ms: baki \d+
    ja: 在庫あり; 在庫有り?; 残り\s?(?:あと)?\d+; 残りわずか; 残りあと; 在庫わずか; 在庫僅少; 即納
    ja: 即日(?:発送|出荷); 当日(?:発送|出荷)
    ja: 在庫(?:が|は)?ございます; 在庫◎; 在庫○; 在庫：?[○◯◎△]; 発送可能; 在庫残少
    ko: 재고 ?있음; 재고 ?\d+; 남은 ?수량 ?\d+; 구매 ?가능; 당일 ?(?:발송|출고)
    zh: 有貨; 有货; 現貨; 现货; 库存充足; 庫存充足; 尚有庫存; 庫存緊張; 库存紧张; 仅剩; 僅剩; 有库存; 有庫存
    zh: 可订购; 可訂購
    th: มีสินค้า; พร้อมส่ง; พร้อมจัดส่ง; มีของ; เหลือ(?:เพียง)? ?\d+
    hi: स्टॉक में(?: है| उपलब्ध)?; उपलब्ध
    """
)

# A text with one of these words is about the availability of something else than the product.
OTHER_SUBJECT = PhrasePattern(
    r"""
    en: information; info; reviews?; ratings?; stores?; branch; pick-?up; click; collect; payments?; coupons?
    en: country
    en: countries; colou?rs?; sizes?; images?; videos?; photos?; gift wrap\w*; financing; express; island
    en: po box\w*
    en: languages?; chat; support; picture
    de es pt it fr nl: bild; imagen(?:es)?; imagem; imagens; immagin[ei]; afbeelding(?:en)?; aperçu; vídeo
    cs sk pl hu ro: obráz(?:ek|ky|ok); zdjęci\w+; kép(?:ek)?; imagine[a]?; náhled
    ru uk tr sv fi: изображени\w+; фото; зображення; görsel; bilden; kuva
    de: filialen?; markt; märkten; abholung; farben; größen?; bilder; ratenzahlung; zahlungsarten; bewertungen
    fr: retrait; magasins?; couleurs; tailles?; paiements?; avis
    es: retiro; tiendas?; colores; tallas?; pagos?; opiniones
    it: ritiro; negozi\w*; colori; taglie; pagament[oi]; recensioni
    pt: lojas?; cores; tamanhos?; pagamentos?; avaliações
    nl: winkels?; filiaal; filialen; kleuren; maten; betaling; beoordelingen
    pl: magazinach; sklepach; salonach; kolor(?:y|ach|ów); rozmiar(?:y|ach|ów)?; opinie
    cs sk: prodejn\w+; predajn\w+; pobočk\w+; barv(?:y|ách); velikost\w*; veľkost\w*; hodnocení
    hu: áruház\w*; üzlet\w*; színek; méretek; értékelés\w*
    ro: [iî]n magazin\w*; magazinele; culori; m[aă]rimi; recenzii
    bg sr mk: магазини(?:те)?; цветове; размери; продавниц\w+
    hr sr bs sl: poslovnic\w+; prodavnic\w+; trgovin(?:i|ah|ama); boj[ae]ma; velikosti; veličin\w+; barvah
    el: καταστ[ήη]μα\w*; χρ[ώω]ματα; μεγ[έε]θη
    sv no da: butik(?:er|ker|k|ken)?; varuhus; varehus; butikslager; färger; farger; farver; storlekar
    sv no da: størrels\w+
    fi et lv lt: myymäl\w*; värit; koot; kauplus\w*; poodides; veikal\w*; parduotuv\w+; spalvos; dydžiai
    ru: магазин\w*; самовывоз\w*; цвета[хм]?; размеры; оплат\w+; отзыв\w*
    uk: магазин\w*; самовивіз\w*; кольори; розміри; відгук\w*
    tr: mağaza\w*; renk\w*; beden\w*; ödeme
    he ar: חנויות; סניפים; צבעים; מידות; الفروع; الألوان; المقاسات
    vi id ms: cửa hàng; màu sắc; kích cỡ; warna; ukuran; toko
    ja: 店舗; サイズ; カラー; レビュー
    ko: 매장; 색상; 사이즈; 리뷰
    zh: 門市; 门店; 門店; 顏色; 颜色; 尺寸; 尺碼; 尺码; 評價; 评价
    th: สาขา; ขนาด; รีวิว
    """
)

# "Can be backordered" does not mean that the product is on backorder now.
POSSIBLE_BACKORDER = re.compile(r"\b(?:can|may) be (?:back|pre)[- ]?ordered\b|\bkann nachbestellt werden\b")
# "Almost sold out" means that some are left.
NEARLY_OUT = re.compile(
    r"\b(?:almost|nearly|fast|bijna|presque|bientôt|quasi|casi|quase|nästan|snart|nesten|næsten|"
    r"prawie|téměř|takmer|majdnem|aproape|почти|майже|neredeyse|hampir) "
    r"(?:sold[- ]out|out of stock|gone|ausverkauft|vergriffen|uitverkocht|épuisée?s?|esaurit[oaie]|"
    r"agotad[oa]s?|esgotad[oa]s?|slutsåld[at]?|slut|utsolgt|udsolgt|wyprzedan[yeao]|vyprodáno|vypredané|"
    r"elfogyott|epuizat|распродан\w*|розпродан\w*|tükendi|habis)\b"
)
