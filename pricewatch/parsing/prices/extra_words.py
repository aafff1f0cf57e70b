"""Words for amounts beside the price of the product, such as extras and other offers; all in lower case."""

from __future__ import annotations

import re

from pricewatch.parsing.phrase_table import PhrasePattern, alternatives

EXTRA = PhrasePattern(
    r"""
    en: warranty; protection plan; guarantee plan; insurance; care plan; applecare; gift ?wrap\w*; deposit
    en: installation
    en: assembly; setup fee; recycling; eco[- ]?(?:part\w*|tax\w*|contribution); copyright levy; handling
    en: energy label
    en: subscribe; gift (?:worth|valued?); valued at; worth; bundle price; buy (?:both|all|together)
    en: total for (?:both|all)
    de: garantie(?:verlängerung)?; versicherung; geschenkverpackung; geschenkbox; pfand; montage; einbau
    de: kaution
    de: abo(?:nnement)?; spar-abo; im wert von; zusammen kaufen; preis für (?:beide|alle); energielabel
    de: urheberabgabe; urheberrechts\w*
    fr: assurance; garantie; consigne; caution; d'une valeur; éco-?(?:part\w*|taxe|contribution); prix du lot
    fr: abonnement
    es pt it: garantía; garanzia; garantia; suscr\w+; assinatura; abbonamento; fianza; cauzione; caução
    es pt it: seguro
    es pt it: assicurazione; raee; canon digital; instalaci[óo]n; instalação; valor de; del valore di; ecotasa
    nl: statiegeld; verwijderingsbijdrage; recupel; auvibel; thuiskopieheffing; verzekering; ter waarde van
    nl: abonnement
    pl: gwarancj\w+; ubezpieczeni\w+; kaucj\w+; montaż\w*; o wartości; opłata (?:reprograficzna|recyklingowa)
    pl: kgo
    pl: kup razem; cena zestawu; abonament\w*; prenumerat\w+
    cs sk: záruk\w+; pojištění; poistenie; záloh\w*; kauce; kaucia; montáž; v hodnotě; v hodnote; předplatné
    cs sk: predplatné
    cs sk: (?:autorsk|recykla[čc]n)\w+ popla\w+; phe; poplatek; poplatok; servisn\w+ bal\w+
    hu: garancia; jótállás; biztosítás; betétdíj; letét; beszerelés; értékben; termékdíj; előfizetés
    ro: garan[tțţ]ie; asigurare; timbru verde; taxa verde; instalare; [iî]n valoare de; abonament; sgr
    bg: гаранция; застраховка; депозит; капаро; монтаж; на стойност; абонамент; такса
    hr sr bs sl: garancij\w+; jamstv\w+; osiguranj\w+; zavarovanj\w+; kaucij\w+; depozit; montaža; ugradnj\w+
    hr sr bs sl: (?:u )?vrijednosti; (?:u )?vrednosti; pretplat\w+; naročnin\w+; naknad[ae]; ekotaksa
    el: εγγ[ύυ]ηση; ασφ[άα]λεια; εγκατ[άα]σταση; αξ[ίι]ας; συνδρομ[ήη]
    sv no da: försäkring; forsikring; garanti; till ett värde; til en verdi; til en værdi; prenumeration
    sv no da: abonnement
    sv no da: miljøgebyr; miljöavgift; kemikalieskatt; (?:inkl|exkl|ekskl|excl)\.? pant
    fi et lv lt: vakuutus; takuu; pantti; kierrätysmaksu; asennus; kindlustus; garantii; apdrošināšan\w+
    fi et lv lt: garantija
    fi et lv lt: depozīts; draudim\w+; garantij\w+; užstatas; abonement\w*
    ru: страховк\w*; гаранти[яи]; установка; залог\w*; подписк\w+; вторсбор; утилизационн\w+; стоимостью
    ru: монтаж
    ru: купить вместе; вместе за; цена комплекта
    uk: страхуванн\w+; гаранті[яї]; встановленн\w+; застава; підписк\w+; вартістю; разом за
    tr he ar: garanti; sigorta\w*; depozito; kurulum; değerinde; abonelik; אחריות; ביטוח; פי?קדון; התקנה
    tr he ar: בשווי; מנוי
    tr he ar: ضمان; تأمين; عربون; تركيب; بقيمة; اشتراك
    vi id ms: bảo hành; bảo hiểm; đặt cọc; tiền cọc; lắp đặt; trị giá; garansi; asuransi; pemasangan; senilai
    vi id ms: langganan
    *: \+ ?pant\b; \bpant:
    ja: 保証; 保険; 保証金; 設置; 取付; 定期(?:購入|便|おトク便); 相当; まとめ買い
    ko: 보증; 보험; 보증금; 설치; 정기배송; 구독; 상당
    zh: 保固; 延保; 保修; 保险; 保險; 押金; 保证金; 保證金; 定金; 訂金; 订金; 安装; 安裝; 订阅; 訂閱; 价值
    zh: 價值; 加購
    th: ประกัน; มัดจำ; ติดตั้ง; มูลค่า; สมัครสมาชิก
    hi: वारंटी; बीमा
    """
)
# Prices that only some customers pay: members, subscribers and owners of a card.
MEMBER = PhrasePattern(
    r"""
    en: members?(?:hip)?(?: price)?; member'?s price; with (?:your |a )?(?:club |loyalty )?card
    en: (?:club|loyalty|card) price; clubcard
    en: with prime; prime price; prime members?; for prime; subscribers? price; plus members?; rewards? price
    en: insider price
    de: mitglied\w*; clubpreis; kartenpreis; mit (?:kunden)?karte; kundenkarte; vorteilspreis; app-preis
    de: paybackpreis
    fr: prix (?:adhérents?|membres?|club|carte|fidélité); adhérents?; avec (?:la |votre )?carte
    es pt it: precio (?:socio|club|miembro|tarjeta)s?; soci[oi]s?; con (?:tu )?tarjeta
    es pt it: preço (?:clube?|sócio|cartão)
    es pt it: com cartão; prezzo (?:soci|club|carta|fedeltà); con (?:la )?carta; cart[ãa]o cliente
    nl: ledenprijs; clubprijs; met (?:klanten)?kaart; lidmaatschap; voor leden
    pl: z kartą; cena klubowa; cena dla (?:klubowicz\w+|członk\w+); klubowa; z aplikacją
    cs sk: s kartou; klubová cena; členská cena; pro členy; pre členov; clubcard; s aplikac\w+; s aplikáciou
    hu ro bg: kártyával; klub(?:ár| ár); tagoknak; cu card(?:ul)?; pre[tțţ] (?:club|membru); с карта
    hu ro bg: клубна цена
    hr sr bs sl: s karticom; sa karticom; klub (?:cijena|cena); s kartico; klubska cena; sa loyalty
    el: τιμ[ήη] μ[έε]λους; με κ[άα]ρτα; μ[έε]λη
    sv no da: medlems?pris; medlem\w*; klubbpris; klubpris; kundeklub\w*; med (?:klubb)?kort; pluspris
    fi et lv lt: jäsenhinta; jäsenille; plussa(?:-| )?hinta; kortilla; kliendikaardi\w*; kliendihind; kaardiga
    fi et lv lt: ar karti
    fi et lv lt: su kortele; kluba cena; klubo kaina; lojalumo
    ru uk: с картой; по карте; клубная цена; цена по карте; для участников; з карткою; клубна ціна
    ru uk: с ozon картой; с wb кошельком
    tr he ar: kartla; üyelere özel; üye fiyat[ıi]; חברי מועדון; מחיר מועדון; سعر العضو; للأعضاء; سعر الأعضاء
    vi id ms: giá thành viên; giá hội viên; harga (?:member|anggota|ahli); khusus member
    ja: 会員価格; 会員; プライム会員
    ko: 회원가; 멤버십; 와우; 카드 ?할인
    zh: 會員價?; 会员价?; 会员; plus价; 黑卡
    th: ราคาสมาชิก; สมาชิก
    hi: सदस्य
    """
)
# An amount in another currency that the page converts, or an estimate: not the price that is asked.
APPROXIMATE = PhrasePattern(
    r"""
    en: approx\.?; approximately; about; roughly; equals?; equivalent to
    de: ca\.?; circa; ungefähr; etwa; entspricht
    fr es pt it nl: env\.?; environ; soit; aprox\.?; aproximadamente; cerca de; circa; ongeveer
    pl cs sk hu ro: około; ok\.; ok; przybliżeniu; přibližně; cca\.?; približne; kb\.?; körülbelül
    pl cs sk hu ro: aproximativ; cca
    bg ru uk hr sr sl: приблизительно; примерно; около; приблизно; близько; otprilike; približno; око
    el sv no da fi et lv lt: περ[ίι]που; ungefär; omtrent; noin; umbes; aptuveni; apie; maždaug
    tr he ar vi id: yaklaş[ıi]k; בערך; حوالي; تقريبا; khoảng; sekitar; kira-kira
    ja ko zh th hi: 約; 约; 약; 大约; 大約; ประมาณ; लगभग
    *: ≈; ~; ≃
    """,
    suffix=r"[\s:(]*$",
)
APPROXIMATE_SIGNS = ("≈", "~", "≃")

_LEVY_WORDS = alternatives(
    r"""
    en: copyright levy; recycling fee; [ée]co[- ]?(?:part\w*|tax\w*|contribution); deposit; energy label
    de nl: pfand; statiegeld; recupel; auvibel; urheberabgabe; urheberrechts\w*
    pl cs sk: kaucj\w+; záloh\w*; recykla[čc]n\w+; autorsk\w+
    ro it bg ru: timbru verde; sgr; raee; вторсбор; депозит
    sv no da fi: (?:i )?pant; pantti
    """
)
# Right after the number: "€2 recycling fee".
LEVY = re.compile(rf"^\W*(?:d['’]|de |of )?(?:{_LEVY_WORDS})(?!\w)")

OTHER_CONDITION = PhrasePattern(
    r"""
    en: open[- ]box; used; pre[- ]?owned; second[- ]?hand; refurbished; renewed; recertified; ex-?display
    en: like new
    en: other sellers?; more offers; buying options; new \(\d+\); used \(\d+\)
    de: gebraucht\w*; b-ware; generalüberholt; wie neu; refurbished; weitere (?:anbieter|angebote)
    de: andere verk\w*
    fr: occasion; d'occasion; reconditionnée?; comme neuf; autres (?:vendeurs|offres)
    es pt it: usad[oa]; usat[oa]; segunda mano; segunda mão; rea?condicionad\w+; ricondizionat\w+; seminuevo
    es pt it: seminovo; como nuevo
    es pt it: otros vendedores; outros vendedores; altri venditori; come nuovo
    nl: tweedehands; gebruikt; andere (?:aanbieders|verkopers); als nieuw
    pl: używan\w*; odnowion\w*; inni sprzedawcy; powystawow\w+
    cs sk: rozbalen\w*; bazar\w*; použit[éýá]; repasovan\w*; zánovn\w+; další prodejci; ďalší predajcovia
    hu ro: használt; felújított; többi eladó; resigilat\w*; recondi[tțţ]ionat\w*; second hand; alte oferte
    hu ro: oferte de la
    bg: употребяван\w*; втора употреба; рециклиран\w*; други продавачи
    hr sr bs sl: rabljen\w*; korišten\w*; korišćen\w*; polovn\w+; obnovljen\w*; drugi prodavači; половн\w+
    el: μεταχειρισμ[έε]ν\w*; ανακατασκευασμ[έε]ν\w*
    sv no da: begagnad\w*; rekonditionerad; fyndvara; brukt; brugt; andra säljare
    fi et lv lt: käytetty; kunnostettu; kasutatud; lietot\w+; naudot\w+
    ru uk: б/у; бу; восстановленн\w*; уценк\w*; уцен[её]нн\w*; вживан\w*; відновлен\w*; другие продавцы
    ru uk: інші продавці
    tr he ar: ikinci el; yenilenmiş; teşhir; diğer satıcılar; משומש; יד שני[יה]ה?; מחודש; مستعمل; مجدد
    vi id ms: đã qua sử dụng; hàng cũ; bekas; terpakai; seken
    ja: 中古; 再生品; 整備済; 訳あり; 他の出品者
    ko: 중고; 리퍼; 다른 판매자
    zh: 二手; 翻新; 福利品; 展示品; 其他卖家; 其他賣家
    th: มือสอง
    """
)

BID = PhrasePattern(
    r"""
    en: (?:current|starting|highest|winning|minimum|opening|your) bid; \d+ bids?
    de: (?:höchst|start|mindest)gebot; aktuelles gebot; \d+ gebote?
    fr es pt it: enchère; mise à prix; \d+ enchères?; puja; \d+ pujas?; offerta attuale; base d'asta
    fr es pt it: lance (?:atual|inicial)
    nl: huidig bod; hoogste bod; startbod; \d+ (?:biedingen|offerte)
    pl: licytac\w*; \d+ ofert
    cs sk: příhoz\w*; vyvolávací cena; vyvolávacia cena; aktuální nabídka
    hu ro: licit\w*; kikiáltási ár; pre[tțţ] de pornire
    hr sr bs sl: početna (?:cijena|cena); trenutna ponud(?:a|ba); izklicna cena
    el: τρ[έε]χουσα προσφορ[άα]; τιμ[ήη] εκκ[ίι]νησης
    sv no da: (?:högsta|ledande|aktuellt) bud; utropspris; (?:høyeste|ledende|højeste) bud; \d+ bud
    fi et: nykyinen tarjous; korkein tarjous; lähtöhinta; hetkepakkumine
    ru uk bg: текущая ставка; начальная цена; поточна ставка; стартова ціна; наддаване
    tr he ar: en yüksek teklif; açılış fiyat[ıi]; הצעה נוכחית; מחיר פתיחה; المزايدة; أعلى عرض
    vi id ms: giá khởi điểm; đấu giá; lelang
    ja ko zh th: 現在価格; 入札; 開始価格; 입찰; 起拍价; 起標價; 競標; 竞拍; 目前出價; 最高出價; ประมูล
    *: \bbids?:
    """
)
