"""Labels of buttons that buy a product or that contact the seller of an advert; all in lower case."""

from __future__ import annotations

from pricewatch.parsing.phrase_table import PhrasePattern

BUY = PhrasePattern(
    r"""
    en: add (?:it )?to (?:my |your |the )?(?:shopping )?(?:cart|bag|basket|trolley); buy(?: it)? now; buy
    en: order now
    en: add to order; checkout now; purchase; pre-?order now; add item to (?:cart|bag|basket)
    de: in den (?:einkaufs)?(?:warenkorb|korb|wagen); in den einkaufswagen; (?:jetzt )?(?:be|vorbe)stellen
    de: kaufen
    de: jetzt kaufen; zum warenkorb hinzufügen; in die einkaufstasche; sofort-?kaufen; in die tasche
    fr: ajouter (?:au|à mon|à ma|dans le|à la|dans mon) (?:panier|sac|cabas|caddie); acheter; je l'ach[èe]te
    fr: j'ach[èe]te
    fr: mettre (?:au|dans le) panier; ^commander
    es: (?:añadir|anadir|agregar|a[ñn]ade|agrega|sumar) (?:al?|a la|a mi) (?:carrito|carro|cesta|bolsa|compra)
    es: comprar(?: ahora| agora| ya)?; c[óo]mpralo (?:ya|ahora); lo quiero; meter en la cesta
    it: aggiungi al(?:la)? (?:carrello|cestino|borsa); acquista(?: ora| subito)?; compra(?: ora| subito)?
    it: metti nel carrello
    it: ordina(?: ora)
    pt: (?:adicionar|juntar|colocar) (?:ao|à|no) (?:meu )?(?:carrinho|cesto|sacola|cesta|saco); comprar
    pt: eu quero
    pt: adicionar (?:à|na) sacola
    nl: in (?:mijn |het |de |m'n )?winkel(?:wagen(?:tje)?|mand(?:je)?); bestel(?:len)?(?: nu| direct)?
    nl: koop nu
    nl: (?:toevoegen aan|voeg toe aan) (?:winkelwagen|winkelmand(?:je)?); nu kopen; kopen; in mandje
    pl: (?:dodaj )?do koszyka; kup teraz; kup; kupuję; zamów(?: teraz)?; włóż do koszyka; dodaj do torby
    cs: (?:přidat |vložit |dát )?do koš[ií]k[ua]; koupit; koupit (?:hned|nyní); objednat
    sk: (?:pridať |vložiť )?do košíka; kúpiť(?: teraz)?; objednať
    hu: (?:a )?kosárba(?: teszem| helyezés| rakom)?; megveszem; megrendelem; vásárlás(?! \w); megvásárol\w*
    ro: adaug[aă] [iî]n (?:co[sșş]|co[sșş]ul); adaug[aă] la co[sșş]; cump[aă]r[aă](?: acum)?; comand[aă] acum
    ro: pune [iî]n co[sșş]
    bg: купи(?: сега)?; (?:добави )?в (?:количката|кошницата); добави в количка; поръчай(?: сега)?
    bg: добавяне в количката
    hr sr bs: (?:dodaj|stavi|ubaci) u (?:košaricu|korpu); u košaricu; u korpu; kupi(?: odmah| sada)?; naruči
    hr sr bs: poruči
    sr mk: (?:додај|стави) у корпу; у корпу; купи одмах; додади во кошничка; во кошничка; нарачај; поручи
    sl: (?:dodaj )?v (?:košarico|voziček); naroči; kupi zdaj
    el: (?:προσθ[ήη]κη )?στο καλ[άα]θι; προσθ[ήη]κη σε καλ[άα]θι; αγορ[άα](?: τ[ώω]ρα)?
    el: αγ[όο]ρασε(?: το)?(?: τ[ώω]ρα)?
    el: βάλε στο καλάθι
    sv: lägg (?:i|till i) (?:varukorg(?:en)?|kundvagn(?:en)?|korgen); köp(?: nu)?; lägg i shoppingbag
    no: (?:legg|kjøp) i handle(?:kurv|vogn)(?:en)?; kjøp(?: nå)?; legg i (?:kurv|handlepose)(?:en)?
    da: l[æa]g i (?:indkøbs)?kurv(?:en)?; køb(?: nu)?; tilføj til (?:indkøbs)?kurv(?:en)?; læg i tasken?
    fi: lisää (?:ostos)?(?:koriin|kassiin|kärryyn|korille); osta(?: nyt| heti)?; ostoskoriin; tilaa nyt
    et: lisa (?:ostu)?korvi; osta; osta kohe; ostukorvi; lisa ostukärusse
    lv: (?:ielikt|pievienot|likt) groz\w+; pirkt(?: tagad)?; pasūtīt; grozā
    lt: į krepšelį; (?:įdėti|dėti|pridėti) į (?:pirkinių )?krepšelį; pirkti(?: dabar)?; užsakyti
    ru: (?:добавить |положить )?в корзину; купить(?: сейчас| в один клик| в 1 клик)?; заказать; оформить заказ
    uk: (?:додати )?(?:до|у|в) (?:кошика|кошик); купити(?: зараз)?; замовити; в кошик
    kk: себетке; сатып алу
    tr: sepete (?:ekle|at); sat[ıi]n al; hemen al; sipariş ver; şimdi al; sepetime ekle
    he: הוס(?:ף|פה|יפו) לסל(?: הקניות)?; הוספה לעגלה; הוסף לעגלה; קנה עכשיו; קנו עכשיו; לרכישה; הזמן עכשיו
    ar: أضف (?:إلى|الى|ل)\s?(?:السلة|عربة|سلة|حقيبة)\w*; أضف للسلة; إضافة (?:إلى|الى) (?:السلة|عربة|سلة)\w*
    ar: اشتر(?:ي)? الآن; شراء الآن; اطلب الآن; اشتري الان
    vi: thêm vào giỏ(?: hàng)?; mua ngay; chọn mua; đặt (?:hàng|mua)(?: ngay)?; cho vào giỏ
    id ms: beli(?: sekarang| langsung)?; pesan sekarang
    id ms: (?:masukkan|tambah(?:kan)?) (?:ke )?(?:dalam )?(?:keranjang|troli|bakul)
    *: \+ ?keranjang
    ja: カートに(?:入れる|いれる|追加|入れ); カートへ; かごに(?:入れる|追加|いれる); 購入
    ja: バッグに(?:入れる|追加); 注文する; 今すぐ買う
    ja: 買い物か[ごゴ]に; ショッピングカートに; 買い物カゴに
    ko: 장바구니(?! ?보기); 구매하기; 바로 ?구매; 쇼핑백에; 주문하기; 카트에 담기; 구입하기; 바로구매; 담기
    zh: 加入購物車; 加入购物车; 立即購買; 立即购买; 我要購買; 馬上購買; 馬上購; 放入購物車; 放入购物车
    zh: 直接購買; 加到購物車; 立刻購買
    zh: 加入購物袋; 加入购物袋; 放入購物籃; 马上抢; 立即抢购; 立即搶購; 立即下单; 立即訂購; 立即订购; 马上购买
    zh: 我要买
    th: ใส่ตะกร้า; ลงตะกร้า; ใส่รถเข็น; ลงในรถเข็น; ซื้อเลย; หยิบใส่; ซื้อสินค้า; ซื้อทันที; ใส่ในตะกร้า; สั่งซื้อ
    hi: कार्ट में (?:डालें|जोड़ें|जोड़े); अभी ख़?रीदें; ख़?रीदें; बैग में जोड़ें
    """
)

# Buttons of classified adverts, where the seller is asked instead of a cart filled.
CONTACT = PhrasePattern(
    r"""
    en: contact (?:the )?(?:seller|owner|advertiser|dealer|agent|vendor|landlord|host)
    en: message (?:the )?(?:seller|owner)
    en: (?:send|write)(?: a| the seller a)? message; send (?:an? )?(?:e-?mail|enquiry|inquiry|offer)
    en: make (?:an )?offer
    en: ^reply$; reply to (?:this )?ad; chat with (?:the )?seller; call (?:the )?seller
    en: show (?:phone|number|contact\w*)
    en: (?:show|reveal|view) (?:phone )?number; is this available\??; email (?:the )?seller
    en: request (?:a )?(?:viewing|info\w*)
    de: (?:anbieter|verkäufer|händler|inserent\w*|vermieter) (?:kontaktieren|anschreiben|anrufen)
    de: ^kontaktieren$
    de: nachricht (?:schreiben|senden|an verkäufer); (?:preis|angebot) (?:vorschlagen|machen)
    de: ^kontakt aufnehmen$
    de: preisvorschlag(?: senden)?; (?:telefon)?nummer anzeigen; anfrage senden; e-mail (?:schreiben|senden)
    de: ^antworten$
    fr: ^contacter$; contacter (?:le |l')?(?:vendeur|annonceur|propriétaire|agence|professionnel)
    fr: envoyer un (?:message|e-?mail)
    fr: faire une offre; voir le (?:numéro|téléphone); ^répondre$; afficher le numéro; message au vendeur
    es: ^contactar$; contactar (?:con )?(?:el |al )?(?:vendedor|anunciante|propietario)
    es: enviar (?:un )?mensaje; hacer (?:una )?oferta
    es: ver tel[ée]fono; ^llamar$; escribir (?:al )?vendedor; preguntar al vendedor; enviar whatsapp; ^chat$
    it: ^contatta$; contatta (?:il |l')?(?:venditore|inserzionista|utente|agenzia); invia (?:un )?messaggio
    it: fai (?:un'?)?offerta
    it: mostra (?:numero|telefono); scrivi al venditore; ^rispondi$; proponi un prezzo; ^chiama$
    pt: contact(?:ar|e)(?: o)? (?:vendedor|anunciante|proprietário); enviar mensagem
    pt: fazer (?:uma )?(?:oferta|proposta)
    pt: ver (?:telefone|contacto|número); ^responder$; falar com o vendedor; ^entrar em contato$; ^ligar$
    nl: ^contact opnemen$; contact (?:opnemen )?met (?:de )?verkoper; (?:stuur|verstuur)(?: een)? bericht
    nl: bericht (?:sturen|versturen)
    nl: ^bied(?:en)?$; plaats bod; doe (?:een )?bod; toon (?:telefoon)?nummer; bel verkoper; ^reageer$
    nl: bod uitbrengen
    pl: (?:napisz|wyślij) wiadomość; ^napisz$; napisz do sprzedawcy; kontakt ze sprzedającym; ^zadzwoń$
    pl: pokaż numer
    pl: zaproponuj cenę; skontaktuj się ze sprzedawcą; złóż ofertę; wyślij zapytanie; ^odpowiedz$
    cs: (?:kontaktovat|napsat) (?:prodejce|prodávající\w*|inzerent\w*); ^odpovědět$; napsat (?:zprávu|e-?mail)
    cs: poslat (?:zprávu|dotaz); zobrazit (?:telefon|číslo|kontakt); nabídnout cenu
    sk: (?:kontaktovať|napísať) (?:predajcu|inzerent\w*|predávajúc\w*); ^odpovedať$
    sk: napísať (?:správu|e-?mail)
    sk: poslať (?:správu|dopyt); zobraziť (?:telefón|číslo|kontakt); ponúknuť cenu
    hu: üzenet küldése; (?:kapcsolatfelvétel|üzenet) (?:az )?eladó\w*; írok az eladónak; ajánlatot teszek
    hu: telefonszám (?:megjelenítése|mutatása)
    hu: üzenetet (?:írok|küldök); ajánlatkérés
    ro: contacteaz[aă] v[aâ]nz[aă]torul; trimite(?: un)? (?:mesaj|email); f[aă] o ofert[aă]; ^sun[aă]$
    ro: arat[aă] num[aă]rul
    bg: свържи се с продавача; (?:изпрати|напиши) съобщение; предложи цена; ^обади се$; покажи телефон\w*
    hr sr bs: kontaktiraj(?:te)? (?:prodavatelja|prodavača|oglašivača|prodavca)
    hr sr bs: (?:pošalji|napiši)(?:te)? (?:poruku|upit)
    hr sr bs: ponudi cijenu; ponudi cenu; prikaži (?:telefon|broj); ^pozovi$; pošalji ponudbu
    sl: kontaktiraj(?:te)? prodajalca; pošlji(?:te)? (?:sporočilo|povpraševanje); pokaži številko; ponudi ceno
    sl: ^pokliči$
    el: επικοινων[ίι]α με τον? πωλητ[ήη]; στε[ίι]λε μ[ήη]νυμα; αποστολ[ήη] μην[ύυ]ματος; κ[άα]νε προσφορ[άα]
    el: εμφάνιση τηλεφώνου; δες τηλέφωνο
    sv: kontakta (?:säljaren|annonsören); (?:skicka|skriv)(?: ett)? meddelande; lägg (?:ett )?bud
    sv: visa (?:telefon)?nummer; ^ring$; ^svara$
    no: kontakt (?:selger|annonsør); send (?:en )?melding; gi (?:et )?bud; vis (?:telefon)?nummer; ^svar$
    no: ^ring$
    da: kontakt (?:sælger|annoncør); (?:send|skriv)(?: en)? besked; giv (?:et )?bud; vis (?:telefon)?nummer
    da: skriv til sælger
    fi: ota yhteyttä myyjään; lähetä viesti; tee tarjous; näytä (?:puhelin)?numero; ^soita$; ^vastaa$
    fi: viesti myyjälle
    et: (?:võta ühendust|kirjuta) müüjaga?; saada (?:sõnum|kiri|e-kiri); tee pakkumine; näita numbrit
    et: ^helista$
    lv: sazināties ar pārdevēju; (?:nosūtīt|rakstīt) (?:ziņu|ziņojumu|e-pastu); parādīt (?:tālruni|numuru)
    lv: piedāvāt cenu
    lt: susisiekti su pardavėju; (?:rašyti|siųsti) (?:žinutę|laišką); rodyti (?:telefoną|numerį)
    lt: siūlyti kainą; ^skambinti$
    ru: ^(?:написать|позвонить)$; (?:написать|позвонить) продавцу; (?:отправить|написать) сообщение
    ru: связаться с продавцом; предложить цену
    ru: показать (?:телефон|номер); ^ответить$; задать вопрос продавцу
    uk: ^(?:написати|подзвонити)$; (?:написати|подзвонити|зателефонувати) продавцю
    uk: (?:надіслати|написати) повідомлення; зв'язатися з продавцем
    uk: запропонувати ціну; показати (?:телефон|номер); ^відповісти$
    tr: sat[ıi]c[ıi](?:ya|yla) (?:mesaj|soru|iletişime)\w*(?: \w+)?; mesaj (?:gönder|at|yaz); teklif ver
    tr: telefonu göster
    he: צור קשר עם המוכר; שלח הודעה; הצע מחיר; הצג (?:טלפון|מספר); שליחת הודעה
    ar: (?:اتصل|تواصل) (?:ب|مع )?(?:البائع|المعلن); أرسل رسالة; إرسال رسالة; قدم عرض\w*
    ar: إظهار (?:الرقم|رقم \w+); راسل البائع
    vi: (?:liên hệ|nhắn tin|chat)(?: với| cho)? người bán; gửi tin nhắn; trả giá; hiện số; gọi (?:điện|ngay)
    id ms: hubungi (?:penjual|pemasang iklan); kirim pesan; hantar mesej
    id ms: (?:buat|ajukan) (?:penawaran|tawaran); chat penjual
    ja: 出品者に(?:連絡|質問|問い合わせ); メッセージを(?:送る|送信); 値下げ交渉; 価格交渉; オファーする
    ko: 판매자(?:에게)? ?(?:문의|연락); 채팅하기; 메시지 ?보내기; 가격 ?제안; 연락하기; 전화하기; 톡하기
    zh: 联系卖家; 聯絡賣家; 聯繫賣家; 发消息; 發送訊息; 傳送訊息; 发送消息; 出價; 出价; 议价; 議價; 私訊; 私信
    zh: 我想要; 聊一聊
    th: ติดต่อผู้ขาย; ส่งข้อความ; แชทกับผู้ขาย; แชทเลย; เสนอราคา; โทรหา; ดูเบอร์
    hi: विक्रेता से संपर्क; संदेश भेजें; ऑफ़?र दें; चैट करें
    """
)
