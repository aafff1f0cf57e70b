"""Headings that introduce other products, in the languages of shops; all in lower case."""

from __future__ import annotations

from pricewatch.parsing.phrase_table import PhrasePattern

OTHER_PRODUCTS = PhrasePattern(
    r"""
    en: (?:related|similar|recommended|suggested|comparable) (?:\w+ )?(?:products?|items?|listings?|offers?)
    en: (?:sponsored|other|alternative|featured|popular) (?:\w+ )?(?:products?|items?|listings?|offers?)
    en: (?:related|similar|recommended|suggested|comparable|sponsored|other) (?:\w+ )?(?:ads?|articles)
    en: recommended for you; recommendations; you (?:may|might|could|will|'ll) (?:also|like|love)
    en: customers? (?:also|who); people also
    en: (?:frequently|often|usually) bought; bought together; recently viewed; more like this
    en: more (?:items |products |listings )?from
    en: complete (?:the|your) (?:look|set|outfit); (?:goes|pairs) well with; accessories; best ?sellers?
    en: trending(?: now)?; also available from
    en: compare with similar; similar (?:ads|to this); (?:your )?browsing history; others? also; sponsored
    en: wear it with; see also; shop the look; new arrivals
    de: (?:ähnliche|weitere|passende|verwandte|empfohlene) (?:artikel|produkte|angebote|anzeigen)
    de: (?:andere|beliebte|gesponserte|ergänzende|alternative) (?:artikel|produkte|angebote|anzeigen)
    de: kunden\b.{0,60}\bauch; könnte (?:ihnen|dir|dich|sie) auch; (?:oft|häufig|gerne?) zusammen gekauft
    de: zuletzt angesehen; zubehör; passend dazu; dazu passt
    de: bestseller; topseller; mehr (?:von|aus) (?:diesem|dieser|dem)\w*; wird oft zusammen; gesponsert
    de: unsere empfehlungen?; empfehlungen; das könnte; zuletzt gesehen; weitere anzeigen
    fr: produits (?:similaires|associés|apparentés|complémentaires|recommandés|sponsorisés|populaires|liés)
    fr: autres (?:produits|annonces|articles); vous aimerez
    fr: souvent achetés ensemble; annonces similaires; articles (?:similaires|récemment consultés)
    fr: vous pourriez (?:aussi )?aimer; accessoires; meilleures ventes
    fr: les clients (?:ont|ayant)\w*; récemment (?:vus|consultés); complétez votre; sponsorisé
    fr: nos suggestions; dans la même catégorie; derniers articles vus
    es: productos (?:relacionados|similares|recomendados|patrocinados|destacados|vistos)
    es: (?:te|le|os) (?:puede|podría)n? (?:también )?(?:gustar|interesar)
    es: comprados juntos; también (?:te|le) (?:puede|podría)\w*; vistos recientemente; (?:los )?más vendidos
    es: accesorios; anuncios (?:similares|relacionados); más (?:productos )?de est[ea]
    es: quienes (?:vieron|compraron); completa (?:tu|el) look; recomendaciones; patrocinado; comprar juntos
    es: otros productos
    it: prodotti (?:correlati|simili|consigliati|sponsorizzati|visti|alternativi)
    it: potrebbe(?:ro)? (?:anche )?(?:piacer|interessar)\w+; acquistati insieme
    it: (?:i )?più venduti; accessori; annunci simili; altri (?:prodotti|annunci)(?: di)?; visti di recente
    it: chi ha (?:visto|comprato|acquistato); completa il look; spesso comprati insieme
    pt: produtos (?:relacionados|semelhantes|similares|recomendados|patrocinados|vistos); quem (?:viu|comprou)
    pt: (?:também )?(?:pode|poderá) (?:também )?(?:gostar|interessar)
    pt: (?:os )?mais vendidos; acessórios; vistos recentemente; comprados juntos; compre junto
    pt: anúncios (?:semelhantes|relacionados); outros produtos; você também; aproveite e leve
    nl: (?:gerelateerde|vergelijkbare|andere|aanbevolen) (?:producten|artikelen|advertenties)
    nl: (?:soortgelijke|gesponsorde|bijpassende) (?:producten|artikelen|advertenties)
    nl: vaak samen (?:gekocht|bekeken)
    nl: anderen (?:bekeken|kochten); klanten (?:kochten|bekeken); recent bekeken; laatst bekeken; accessoires
    nl: bestsellers; meer van deze; misschien vind je; wellicht ook interessant; combineer met
    pl: podobne (?:produkty|oferty|ogłoszenia|przedmioty)
    pl: produkty (?:podobne|powiązane|polecane|sponsorowane); polecane(?: produkty)?
    pl: klienci (?:kupili|oglądali|kupowali); inne oferty
    pl: ostatnio (?:oglądane|przeglądane); akcesoria; bestsellery; często kupowane razem; kup w zestawie
    pl: może (?:ci|cię) (?:się )?(?:spodobać|zainteresować); zobacz (?:też|także|również)
    pl: inni (?:kupili|oglądali); więcej od tego
    cs: (?:podobné|související|příbuzné|doporučené|alternativní|další) (?:produkty|zboží|inzeráty|nabídky)
    cs: příslušenství; zákazníci (?:také|kupují|nakoupili)
    cs: naposledy (?:navštívené|prohlížené|prohlédnuté); nejprodávanější; často kupované
    cs: mohlo by (?:vás|se vám); k tomuto (?:zboží|produktu); ostatní (?:také )?kup\w+
    sk: (?:podobné|súvisiace|odporúčané|ďalšie) (?:produkty|tovary|inzeráty|ponuky); príslušenstvo
    sk: zákazníci (?:tiež|kupujú|kúpili); naposledy (?:navštívené|prezerané); najpredávanejšie
    sk: mohlo by (?:vás|sa vám)
    hu: (?:hasonló|kapcsolódó|ajánlott|további) (?:termék\w*|ajánlat\w*|hirdetés\w*)
    hu: (?:gyakran )?együtt (?:vásárolt|vett)\w*; tartozékok; kiegészítők; legnépszerűbb\w*; mások ezt
    hu: legutóbb (?:megtekintett|nézett)\w*; ezek is érdekel\w*; önnek ajánljuk; vásárlóink
    ro: produse (?:similare|asemănătoare|recomandate|complementare|vizualizate|înrudite|sponsorizate)
    ro: (?:cumpărate|cump[aă]ra[tțţ]i) (?:frecvent )?[iî]mpreun[aă]; accesorii; cele mai v[aâ]ndute
    ro: anun[tțţ]uri (?:similare|asemănătoare); al[tțţ]i clien[tțţ]i; [tțţ]i-ar putea pl[aă]cea
    ro: te-ar putea interesa; recent v[aă]zute; clien[tțţ]ii (?:au|care)
    bg: (?:подобни|свързани|сходни|препоръчани|други) (?:продукти|артикули|обяви|оферти); аксесоари
    bg: най-продавани; последно (?:разгледани|видени); често купувани; може да (?:ви|ти) хареса
    bg: клиентите (?:купиха|разгледаха)
    hr sr bs: (?:slični|povezani|srodni|preporučeni|ostali|drugi) (?:proizvodi|artikli|oglasi); oprema uz
    hr sr bs: dodatna oprema; ^pribor$; najprodavanij\w+; nedavno (?:pregledan|gledan)\w*
    hr sr bs: kupci (?:su )?(?:također|takođe|kupili); često kupljeno; možda (?:će )?(?:vam|te|vas)
    sr mk: (?:слични|повезани|сродни|препоручени) (?:производи|артикли|огласи); најпродавани\w*
    sl: (?:podobni|sorodni|povezani|priporočeni) (?:izdelki|oglasi); ^dodatki$; dodatna oprema
    sl: najbolje prodajan\w+; nazadnje (?:ogledan|pregledan)\w*; pogosto kupljen\w+; morda (?:vas|vam)
    sl: kupci (?:so )?(?:kupili|tudi)
    el: (?:παρ[όο]μοια|σχετικ[άα]|προτειν[όο]μενα|συναφ[ήη]) (?:προϊ[όο]ντα|αντικε[ίι]μενα); αξεσου[άα]ρ
    el: δημοφιλ[ήη]; μπορε[ίι] (?:επ[ίι]σης )?να σας; αγορ[άα]στηκαν μαζ[ίι]; πρόσφατα είδατε; είδατε πρόσφατα
    el: συχνά αγοράζονται
    sv: (?:liknande|relaterade|andra|rekommenderade|populära) (?:produkter|varor|artiklar|annonser)
    no da: (?:lignende|relaterede|relaterte|andre) (?:produkter|varer|artikler|annonser|annoncer)
    no da: (?:anbefalte|anbefalede) (?:produkter|varer)
    sv no da: tillbehör; tilbehør; (?:köps|kjøpes|købes) (?:ofta|ofte) (?:tillsammans|sammen)
    sv no da: kunder (?:köpte|kjøpte|købte|som|har); senast visade; sist (?:sett|viste); senest (?:sete|viste)
    sv no da: bästsäljare; bestselgere; bestsellere; du (?:kanske|vil|kan) (?:också|også)
    sv no da: andre (?:kjøpte|købte|så); passar (?:bra )?till
    fi: (?:samankaltais|vastaav|liittyv|suositel|muita)\w* (?:tuotteita|tuotteet|ilmoituks\w+); lisävarusteet
    fi: tarvikkeet; usein ostettu yhdessä; viimeksi (?:katsotut|katsellut); asiakkaat (?:ostivat|myös)
    fi: saatat (?:myös )?pitää; suosituimmat; suosittelemme
    et: (?:sarnased|seotud|soovitatud|teised) (?:tooted|kuulutused); lisatarvikud; viimati vaadatud
    et: kliendid (?:ostsid|vaatasid); võib (?:sulle|teile) meeldida; enimmüüdud
    lv: (?:līdzīg|saistīt|ieteikt)\w+ (?:preces|produkti|sludinājumi); piederumi; nesen skatīt\w+
    lv: pircēji (?:arī|iegādājās); populārāk\w+
    lt: (?:panašios|susijusios|rekomenduojamos|kitos) (?:prekės|skelbimai); panašūs skelbimai; ^priedai$
    lt: neseniai (?:žiūrėt|peržiūrėt)\w+; pirkėjai (?:taip pat|pirko); perkamiausios
    ru: (?:похожие|сопутствующие|рекомендуемые|другие|аналогичные) (?:товары|объявления|предложения)
    ru: с этим товаром; вам (?:также )?(?:может|могут) (?:понравиться|подойти); аксессуары; хиты продаж
    ru: (?:вы )?(?:недавно )?(?:смотрели|просмотренные); покупают вместе; вместе (?:с этим )?покупают
    ru: рекомендуем(?: также)?; спонсорск\w+; другие объявления; ещ[её] от (?:продавца|этого); аналоги
    uk: (?:схожі|супутні|рекомендовані|інші|подібні) (?:товари|оголошення|пропозиції); з цим товаром
    uk: вам (?:також )?(?:може|можуть) сподобатися; аксесуари; хіти продаж\w*; (?:нещодавно )?переглянуті
    uk: купують разом; разом (?:з цим )?купують
    tr: benzer (?:ürünler|ilanlar); ilgili ürünler; önerilen ürünler
    tr: (?:bunu|birlikte) (?:alanlar|al[ıi]nanlar|sat[ıi]n al[ıi]nan)\w*; aksesuarlar?; çok satanlar
    tr: son (?:bakt[ıi]klar[ıi]n[ıi]z|gezdi\w+|görüntülen\w+); sponsorlu; beğenebile\w+
    he: מוצרים (?:דומים|קשורים|נוספים|מומלצים); אולי יעניין; נצפו לאחרונה; אביזרים; רבי מכר
    he: לקוחות (?:שקנו|קנו|שצפו); מודעות דומות; נקנים יחד
    ar: منتجات (?:مشابهة|ذات صلة|مماثلة|موصى|أخرى); قد يعجبك; شوهد مؤخرا; إكسسوارات; الأكثر مبيعا
    ar: إعلانات مشابهة; يشترى معا; العملاء الذين; شاهدت مؤخرا
    vi: sản phẩm (?:tương tự|liên quan|cùng loại|khác|đã xem|gợi ý|bán chạy)
    vi: có thể bạn (?:cũng )?(?:thích|quan tâm); mua kèm; phụ kiện; thường mua cùng; tin (?:đăng )?tương tự
    vi: gợi ý (?:cho|hôm)
    id ms: produk (?:serupa|terkait|lain\w*|sejenis|rekomendasi|berkaitan|terlaris)
    id ms: (?:anda )?mungkin (?:anda )?(?:juga )?(?:suka|minat); sering dibeli; aksesori?s?; terakhir dilihat
    id ms: barang (?:serupa|lain); rekomendasi(?: untuk)?; lainnya di toko; iklan serupa
    ja: 関連商品; 関連する?(?:商品|製品|アイテム); この商品を.{0,20}人; 一緒に(?:購入|買|チェック)
    ja: おすすめ(?:商品|アイテム|の商品); 類似(?:商品|品); 似ている?商品; 似たような?
    ja: 最近(?:見た|チェックした|閲覧); 閲覧履歴; 人気(?:商品|ランキング); あなたにおすすめ; よく一緒に
    ja: スポンサー; この出品者の(?:他|その他); アクセサリ
    ko: 관련 ?상품; 추천 ?상품; 비슷한 ?상품; 유사 ?상품; 함께 ?(?:구매|본|보면); 최근 ?본; 다른 ?고객
    ko: 인기 ?상품; 연관 ?상품; 판매자의 다른; 이런 상품; 베스트셀러; 광고 ?상품
    zh: 相關商品; 相关商品; 相关产品; 相關產品; 猜你喜; 猜您喜; 推薦商品; 推荐商品; 为你推荐; 為你推薦
    zh: 为您推荐; 為您推薦; 類似商品; 类似商品; 相似(?:商品|宝贝); 看了又看; 买了还买; 買了還買; 還買了
    zh: 还买了; 也(?:買|买|看)了; 最近(?:瀏覽|浏览); 瀏覽紀錄; 浏览记录; 熱銷(?:商品|排行|推薦|推荐|榜)
    zh: 热销(?:商品|排行|推薦|推荐|榜); 熱賣(?:商品|排行|推薦|推荐|榜); 热卖(?:商品|排行|推薦|推荐|榜); 加購
    zh: 搭配(?:購買|购买|商品); 店(?:家|鋪|铺)(?:其他|推薦|推荐); 同类(?:商品|推荐); 您可能; 你可能; 其他人也
    th: สินค้า(?:ที่เกี่ยวข้อง|แนะนำ|ใกล้เคียง|ที่คล้ายกัน|ขายดี|อื่นๆ); คุณอาจ(?:จะ)?(?:ชอบ|สนใจ); ดูล่าสุด; เพิ่งดู
    th: ซื้อคู่กัน; ซื้อด้วยกัน
    hi: संबंधित उत्पाद; मिलते-जुलते; आपको (?:यह )?भी पसंद; हाल ही में देखे; एक साथ ख़?रीदे; ग्राहकों ने
    """
)
