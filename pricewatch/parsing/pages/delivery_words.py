"""Words that promise a delivery: verbs and nouns of delivery, and times; all in lower case."""

from __future__ import annotations

from pricewatch.parsing.phrase_table import PhrasePattern, alternatives

DELIVERY = PhrasePattern(
    r"""
    en: deliver(?:y|ed|s); get it; receive it; arrives?; arriving; arrival; ships?; shipped; shipping
    en: dispatch(?:ed|es)?
    en: leaves? (?:our )?warehouse
    de: liefer(?:ung|bar|termin|datum|zeit|t)?; geliefert; zustellung; versand(?:fertig|bereit|zeit)?
    de: bei (?:dir|ihnen)
    de: lieferzeit; ankunft; versendet; verschickt; wird geliefert
    fr: livr(?:é|ée|aison|able)s?; expédi(?:é|ée|tion)s?; recevez-l[ea]; chez vous; arriv(?:e|ée)
    es: entrega\w*; recíbelo; recíbel[oa]s?; llega\w*; env[ií]o; envia(?:do|mos); enviado
    it: consegn\w+; ricevil[oa]; spedi(?:to|zione|amo); arriva; in arrivo
    pt: entrega; entregue; recebe(?:r)?; receba; chega(?:r[áa])?; envio; enviado
    nl: bezorg\w*; gelever\w*; levering; levertijd; in huis; verzonden; thuisbezorgd; ontvang
    pl: dostaw\w+; dostarczymy; wysyłk\w+; wyślemy; u ciebie; kurier\w*; otrzymasz
    cs: doruč\w+; dodání; u vás; odešleme; odeslání; dodáme; dostanete; expedi\w+; doprav\w+
    sk: doruč\w+; dodanie; u vás; odošleme; odoslanie; dodáme; dostanete; expedi\w+
    hu: szállítás\w*; kiszállítás\w*; kézbesít\w+; megérkezik; átvehető; várható
    ro: livr(?:are|ăm|at|at[aă]|abil)\w*; livrare\w*; prime[sșş]ti; ajunge; expedi\w+
    bg: достав\w+; получи\w*; изпращ\w+; пристига
    hr sr bs sl: dostav\w+; isporuk\w+; isporuč\w+; dobav\w+; dostava; pošilja\w*; stiže; prejmite; odprem\w+
    hr sr bs sl: pri vas
    sr mk: достав\w+; испорук\w+; испорача\w+; стиже
    el: παρ[άα]δοση; παραλαβ[ήη]; αποστολ[ήη]; παραδίδεται; αποστ[έε]λλεται
    sv: lever(?:ans|eras|eranstid|ans)\w*; skickas; hemma hos dig; beräknad leverans
    no: lever(?:ing|es|ingstid|t)\w*; sendes; hjemme hos deg
    da: lever(?:ing|es|ingstid|et)\w*; sendes; afsendes; hos dig
    fi: toimit\w+; lähetetään; perillä; saapuu
    et lv lt: tarne\w*; kättetoimetami\w+; saadame; piegād\w+; saņemsi\w*; nosūt\w+; pristat\w+; gausite
    et lv lt: išsiun\w+
    ru: достав\w+; привез[её]м; получит\w*; отправ\w+; курьер\w*; получение
    uk: достав\w+; привез\w+; отрима\w+; відправ\w+; кур'єр\w*
    tr: teslim\w*; kargo\w*; kapında; gönderi\w*; elinizde
    he: משלוח; אספקה; יגיע; מגיע; יסופק; זמן אספקה
    ar: التوصيل; توصيل; يصل; الشحن; يشحن; احصل عليه; استلمه?; التسليم
    vi: giao(?: hàng)?; nhận hàng; giao vào; dự kiến
    id ms: dikirim; pengiriman; tiba; sampai; diterima; estimasi; penghantaran; dihantar
    ja: お届け; 届[くけき]; 発送; 出荷; 配達; 配送; 到着
    ko: 배송; 도착; 발송; 출고; 배달
    zh: 送達; 送达; 配送; 發貨; 发货; 出貨; 到貨; 送到; 到货; 寄出; 抵達
    th: จัดส่ง; ส่งถึง; ได้รับ; ส่งภายใน; ถึงคุณ
    hi: डिलीवरी; डिलिवरी; पहुंच\w*; भेजा
    """
)

_DAYS = alternatives(
    r"""
    en: h; hrs?; hours?; (?:business |working )?days?; weeks?
    de: stunden; (?:werk|arbeits)?tagen?; (?:werk|arbeits)?tage; wochen?
    fr es pt it: heures?; jours?(?: ouvrés)?; semaines?; horas?; d[íi]as?; semanas?; ore; giorn[oi]
    fr es pt it: settiman[ae]
    nl: uur; (?:werk)?dag(?:en)?; weken
    pl cs sk: godzin\w*; dni; dzień; tygod\w+; hodin\w*; dn[íůy]; týdn\w+; dn[íi]; dňo[cv]h?; pracovn\w+
    hu ro: (?:munka)?nap\w*; óra; zile?; zile lucrătoare; săptăm\w+
    ru uk bg sr mk: дн[яейі]+; днів; ден; дена; дана; час\w*; годин\w*; недел\w+; тиж\w+; рабоч\w+; работн\w+
    ru uk bg sr mk: робоч\w+
    hr sr bs sl: dana?; dneh?; dni; radn\w+; delovn\w+; sati?
    el: ημ[έε]ρ\w+; εργ[άα]σιμ\w+; [ώω]ρ\w+
    sv no da: dag(?:ar|er|e)?; (?:var|virke|arbeids|hver|arbets)dag\w*; tim(?:mar|er|e); veck\w+; uker?; uger?
    fi et lv lt: (?:arki)?päiv\w+; (?:töö)?päev\w*; dien\w*; darba dien\w*; d\. ?d; darbo dien\w*
    tr he ar: gün\w*; iş günü; saat\w*; ימים; ימי עסקים; שעות; أيام; يوم; ساعة
    vi id ms: ngày; giờ; hari; jam
    """
)

# A day, or a number of days; dates with months are read apart.
TIME = PhrasePattern(
    r"""
    en: today; tonight; tomorrow; overnight; (?:same|next)[- ]day
    en: (?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)day
    en: by (?:mon|tue|wed|thu|thur|thurs|fri|sat|sun); (?:mon|tue|wed|thu|thur|thurs|fri|sat|sun),
    de: heute; morgen; übermorgen; (?:mon|diens|donners|frei|sams|sonn)tag; mittwoch; nächste woche
    fr: aujourd'hui; demain; lundi; mardi; mercredi; jeudi; vendredi; samedi; dimanche
    es: hoy; mañana; lunes; martes; miércoles; jueves; viernes; sábado; domingo
    it: oggi; domani; lunedì; martedì; mercoledì; giovedì; venerdì; sabato; domenica
    pt: hoje; amanhã; (?:segunda|terça|quarta|quinta|sexta)-feira
    pt: (?:na|até|próxima) (?:segunda|terça|quarta|quinta|sexta)
    nl: vandaag; morgen; overmorgen; maandag; dinsdag; woensdag; donderdag; vrijdag; zaterdag; zondag
    pl: dziś; dzisiaj; jutro; pojutrze; poniedziałe?k\w*; wtorek; środ[aęy]; czwartek; piątek; sobot[aęy]
    pl: niedziel[aęi]
    cs: dnes; zítra; pozítří; pondělí; úterý; středu?y?; čtvrtek; pátek; sobot[auy]; neděl[ei]
    sk: zajtra; pozajtra; pondelok; utorok; stred[auy]; štvrtok; piatok; nedeľ[aue]
    hu: még ma; holnap(?:ra)?; holnapután; hétfő\w*; kedd\w*; szerd[aá]\w*; csütörtök\w*; péntek\w*
    hu: szombat\w*; vasárnap\w*
    ro: azi; m[aâ]ine; poim[aâ]ine; luni; mar[tțţ]i; miercuri; joi; vineri; s[aâ]mb[aă]t[aă]; duminic[aă]
    bg: днес; утре; понеделник; вторник; сряда; четвъртък; петък; събота; неделя
    hr sr bs sl: danas; sutra; ponedje?lja?ka?; utora?k; srijed[aue]; sred[aueo]; četvrta?k; peta?k
    hr sr bs sl: subot[aue]
    hr sr bs sl: jutri; ponedeljek; torek; sredo; četrtek; petek; soboto; nedeljo
    sr mk: данас; сутра; понедељак; уторак; четвртак; петак
    el: σ[ήη]μερα; α[ύυ]ριο; μεθα[ύυ]ριο; δευτ[έε]ρα; τρ[ίι]τη; τετ[άα]ρτη; π[έε]μπτη; παρασκευ[ήη]
    sv: idag; imorgon; i dag; i morgon; måndag; tisdag; onsdag; torsdag; fredag; lördag; söndag
    no da: i dag; i morgen; mandag; tirsdag; onsdag; torsdag; fredag; lørdag; søndag
    fi: tänään; huomenna; maanantai\w*; tiistai\w*; keskiviik\w+; torstai\w*; perjantai\w*; lauantai\w*
    et lv lt: täna; homme; esmaspäev\w*; teisipäev\w*; reede\w*; šodien; rīt; pirmdien\w*; otrdien\w*
    et lv lt: piektdien\w*
    et lv lt: šiandien; rytoj; pirmadien\w*; antradien\w*; trečiadien\w*; ketvirtadien\w*; penktadien\w*
    ru: сегодня; завтра; послезавтра; понедельник; вторник; сред[ау]; четверг; пятниц[ау]; суббот[ау]
    ru: воскресенье
    uk: сьогодні; завтра; післязавтра; понеділок; вівторок; серед[ау]; четвер; п'ятниц[яю]; субот[ау]
    uk: неділ[яю]
    tr: bugün; yarın; pazartesi; salı; çarşamba; perşembe; cuma; cumartesi; pazar
    he: היום; מחר; מחרתיים; יום (?:ראשון|שני|שלישי|רביעי|חמישי|שישי); ימי עסקים
    ar: اليوم; غد[اً]*; الغد; (?:ال)?(?:أحد|اثنين|إثنين|ثلاثاء|أربعاء|خميس|جمعة|سبت); أيام; يوم عمل
    vi: hôm nay; ngày mai; thứ (?:hai|ba|tư|năm|sáu|bảy); chủ nhật
    id ms: hari ini; besok; esok; lusa; senin; selasa; rabu; kamis; jumat; sabtu; minggu; isnin; khamis
    id ms: jumaat
    ja: 本日; 今日; 明日; 明後日; 翌日; 当日; 即日; 翌々日; [月火水木金土日]曜; \d日; \d月; \d ?営業日
    ja: お届け(?:予定)?日; 以内; 予定
    ko: 오늘; 내일; 모레; [월화수목금토일]요일; \d일; 당일; 익일; \([월화수목금토일]\)
    zh: 今天; 今日; 明天; 明日; 后天; 後天; 次日; 隔日; 当天; 當天; \d ?[天日]
    zh: \d ?[个個]?(?:工作日|小时|小時|時內); [周週星期][一二三四五六日]
    th: วันนี้; พรุ่งนี้; \d ?วัน; วัน(?:จันทร์|อังคาร|พุธ|พฤหัส|ศุกร์|เสาร์|อาทิตย์)
    hi: आज; कल; \d ?दिन; सोमवार; मंगलवार; बुधवार; गुरुवार; शुक्रवार; शनिवार
    """,
    # A number of days, hours or weeks; a date of day and month.
    prefix=rf"\d{{1,3}}\s?\+?\s?(?:{_DAYS})(?!\w)"
    r"|\b(?:3[01]|[12]\d|0?[1-9])[./](?:1[0-2]|0?[1-9])(?:[./]|(?!\w))(?!\s?[%€$£])|",
)

# What is said of returns and payment is not said of the delivery.
OTHER_PROMISE = PhrasePattern(
    r"""
    en: returns?; refunds?; exchange; warranty; trial; money[- ]back; payment; pay; monitor\w*; cut-?off
    de: rückgabe\w*; retoure\w*; umtausch; widerruf\w*; garantie; zahlung\w*; rücksendung\w*
    fr: retours?; remboursement; échange; garantie; paiement; rétractation
    es pt it: devoluci[óo]n\w*; devolver; garantía; reembolso; devoluç\w+; garantia; reso; resi; rimbors\w+
    es pt it: garanzia
    nl: retour\w*; bedenktijd; garantie; ruilen; achteraf
    pl cs sk: zwrot\w*; gwarancj\w+; vrácení; vráten\w+; záruk\w+; reklamac\w+
    hu ro bg: visszaküld\w+; garancia; retur\w*; garan[tțţ]ie; връщане; гаранция
    hr sr bs sl: povrat\w*; vračil\w+; jamstv\w+; garancij\w+; povraćaj; zamen\w+
    el sv no da fi: επιστροφ\w+; εγγύηση; retur\w*; öppet köp; angrerett; fortrydelsesret; ångerrätt
    el sv no da fi: palautus\w*; takuu
    et lv lt: tagastam\w+; garantii; atgriež\w+; garantija; grąžin\w+
    ru uk tr: возврат\w*; обмен; гарант\w+; повернення; обмін; iade\w*; garanti\w*; cayma
    he ar vi id: החזר\w*; החלפה; إرجاع; استرجاع; ضمان; đổi trả; bảo hành; pengembalian; garansi
    ja: 返品; 返金; 保証; 交換
    ko: 반품; 환불; 교환; 보증
    zh: 退貨; 退货; 退款; 退換; 退换; 保固; 鑑賞期; 保修
    th: คืนสินค้า; คืนเงิน; รับประกัน
    """
)
