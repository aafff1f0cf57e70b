"""Word tables from which listings are generated."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """A category: its currency, share of all listings, price range in major units, and words."""

    name: str
    label: str
    currency: str
    share: float
    low: int
    high: int
    products: tuple[tuple[str, tuple[str, ...]], ...]
    kinds: tuple[str, ...]
    extras: tuple[str, ...]
    attributes: tuple[tuple[str, tuple[str, ...]], ...]


CATEGORIES: tuple[Category, ...] = (
    Category(
        "bikes",
        "Bikes",
        "EUR",
        0.25,
        120,
        4800,
        (
            ("Trek", ("Domane AL 2", "Marlin 7", "FX 3 Disc", "Checkpoint ALR 5")),
            ("KTM", ("Chicago 29", "Macina Sport", "Life Tour", "Ultra Fun")),
            ("Cube", ("Attain Pro", "Nature EXC", "Kathmandu Hybrid", "Reaction TM")),
            ("Simplon", ("Kagu", "Silkcarbon", "Pavo Granfondo")),
            ("Canyon", ("Endurace 7", "Grizl AL", "Roadlite 6", "Neuron 5")),
            ("Puch", ("Clubman", "Mistral", "Bergmeister")),
            ("Bianchi", ("Via Nirone 7", "Sprint", "Impulso RC")),
        ),
        ("Rennrad", "Trekkingrad", "Mountainbike", "Gravelbike", "Citybike", "E-Bike"),
        ("Größe M", "Größe L, wie neu", "Service gemacht", "neue Bremsbeläge", "Shimano 105", "28 Zoll"),
        (
            ("Frame size", ("50 cm", "52 cm", "54 cm", "56 cm", "58 cm")),
            ("Wheel size", ('26"', '27.5"', '28"', '29"')),
            ("Gears", ("1", "8", "11", "20", "22", "27")),
            ("Colour", ("schwarz", "celeste", "grün", "weiß/rot")),
        ),
    ),
    Category(
        "cameras",
        "Cameras",
        "JPY",
        0.12,
        6000,
        480000,
        (
            ("Nikon", ("FM2", "Z6 II", "D750", "F3 HP")),
            ("Canon", ("EOS R6", "AE-1 Program", "EOS 5D Mark III")),
            ("Olympus", ("OM-1n", "Pen F", "OM-D E-M5")),
            ("Pentax", ("67 II", "K-1", "Spotmatic SP")),
            ("Fujifilm", ("X-T4", "X100V", "GA645")),
            ("Leica", ("M6", "Q2", "IIIf")),
        ),
        ("Camera body", "Rangefinder", "SLR", "Kit"),
        ("boxed", "with 50mm f/1.8", "CLA'd 2023", "near mint", "フィルム", "light meter works"),
        (
            ("Mount", ("F", "EF", "OM", "K", "X", "M")),
            ("Sensor", ("35 mm film", "full frame", "APS-C", "medium format")),
            ("Shutter count", ("unknown", "3200", "18450", "41000")),
            ("Colour", ("black", "silver")),
        ),
    ),
    Category(
        "laptops",
        "Laptops",
        "EUR",
        0.12,
        90,
        2900,
        (
            ("Lenovo", ("ThinkPad X1 Carbon", "ThinkPad T480", "Yoga Slim 7")),
            ("Dell", ("XPS 13", "Latitude 7490", "Precision 5540")),
            ("Apple", ("MacBook Air M1", "MacBook Pro 14", "MacBook 12")),
            ("HP", ("EliteBook 840", "ProBook 450", "Spectre x360")),
            ("Framework", ("Laptop 13", "Laptop 16")),
        ),
        ("Notebook", "Ultrabook", "Workstation", "Business-Laptop"),
        ("16 GB RAM", "512 GB SSD", "Akku geprüft", "französische Tastatur", "mit Dockingstation"),
        (
            ("RAM", ("8 GB", "16 GB", "32 GB")),
            ("Storage", ("256 GB", "512 GB", "1 TB")),
            ("Screen", ('12.5"', '13.3"', '14"', '15.6"')),
            ("Keyboard", ("QWERTZ", "QWERTY", "AZERTY")),
        ),
    ),
    Category(
        "furniture",
        "Furniture",
        "EUR",
        0.12,
        15,
        1900,
        (
            ("IKEA", ("Billy", "Poäng", "Kallax", "Ektorp")),
            ("Thonet", ("Nr. 14", "S 43", "B 9")),
            ("USM", ("Haller Sideboard", "Kitos Tisch")),
            ("Team 7", ("Nox", "Cubus Pure")),
            ("Vitra", ("Eames DSW", "Standard SP")),
        ),
        ("Sessel", "Schreibtisch", "Regal", "Kommode", "Esstisch", "Sofa"),
        ("Nussbaum", "Kirschholz, geölt", "Selbstabholung", "zwei Stück", "kleine Kratzer"),
        (
            ("Material", ("Eiche", "Nussbaum", "Kiefer", "Stahlrohr", "Leder")),
            ("Width", ("42 cm", "80 cm", "120 cm", "180 cm")),
            ("Height", ("74 cm", "90 cm", "202 cm")),
            ("Assembly", ("needed", "not needed")),
        ),
    ),
    Category(
        "phones",
        "Phones",
        "EUR",
        0.12,
        40,
        1300,
        (
            ("Apple", ("iPhone 12", "iPhone 13 mini", "iPhone 14 Pro", "iPhone SE")),
            ("Samsung", ("Galaxy S22", "Galaxy A54", "Galaxy Z Flip 4")),
            ("Google", ("Pixel 6a", "Pixel 7", "Pixel 8 Pro")),
            ("Fairphone", ("4", "5")),
            ("Nokia", ("3310", "8.3 5G")),
        ),
        ("Smartphone", "Handy", "Bundle"),
        ("128 GB", "256 GB, ohne Simlock", "Display neu", "mit Hülle", "Akku 91 %"),
        (
            ("Storage", ("64 GB", "128 GB", "256 GB")),
            ("Battery health", ("81 %", "88 %", "93 %", "100 %")),
            ("SIM lock", ("none", "A1", "Magenta")),
            ("Colour", ("schwarz", "weiß", "mint", "(PRODUCT)RED")),
        ),
    ),
    Category(
        "instruments",
        "Instruments",
        "USD",
        0.08,
        45,
        6200,
        (
            ("Fender", ("Telecaster", "Jazzmaster", "Precision Bass")),
            ("Gibson", ("Les Paul Studio", "SG Special", "J-45")),
            ("Roland", ("Juno-106", "TR-8S", "FP-30X")),
            ("Yamaha", ("FG800", "P-125", "YTR-2330")),
            ("Moog", ("Subsequent 37", "Grandmother")),
        ),
        ("Guitar", "Bass", "Synthesizer", "Piano", "Trumpet"),
        ("w/ hard case", "1987", "recently serviced", "left-handed", "some fret wear"),
        (
            ("Year", ("1978", "1987", "1999", "2011", "2020")),
            ("Finish", ("sunburst", "natural", "black", "seafoam green")),
            ("Case", ("none", "gig bag", "hard case")),
        ),
    ),
    Category(
        "toys",
        "Toys",
        "EUR",
        0.09,
        3,
        420,
        (
            ("LEGO", ("Technic 42100", "City Bahnhof", "Star Wars Falke")),
            ("Märklin", ("Startpackung", "Drehscheibe", "Br 01")),
            ("Playmobil", ("Ritterburg", "Piratenschiff")),
            ("Matador", ("Maker 3", "Explorer 5")),
            ("Steiff", ("Teddybär", "Igel Joggi")),
        ),
        ("Set", "Sammlung", "Konvolut", "Einzelstück"),
        ("vollständig", "ohne Anleitung", "OVP", "für Kinder ab 6", "tierfreier Haushalt"),
        (
            ("Pieces", ("1", "42", "250", "1351", "4108")),
            ("Age", ("3+", "6+", "12+", "16+")),
            ("Box", ("yes", "no")),
        ),
    ),
    Category(
        "rentals",
        "Rentals",
        "EUR",
        0.10,
        320,
        3200,
        (
            ("Altbau", ("Josefstadt", "Margareten", "Gries")),
            ("Neubau", ("Seestadt", "Sonnwendviertel", "Reininghaus")),
            ("Dachgeschoß", ("Neubaugürtel", "Lend", "Urfahr")),
            ("Garçonnière", ("Währing", "Pradl", "Froschberg")),
        ),
        ("Wohnung", "Mietwohnung", "Loft", "Maisonette"),
        ("mit Balkon", "nähe U-Bahn", "unbefristet", "Küche möbliert", "Erstbezug"),
        (
            ("Floor", ("ground", "1", "2", "3", "attic")),
            ("Heating", ("district heating", "gas", "heat pump")),
            ("Available from", ("now", "next month", "by arrangement")),
            ("Pets", ("allowed", "on request", "no")),
        ),
    ),
)

CONDITIONS = ("new", "like new", "good", "fair", "for parts")

FIRST_NAMES = (
    *("Anna", "Jürgen", "Mehmet", "Zoë", "Lukas", "Ivana", "Françoise", "Otto", "Mira", "Sándor"),
    *("Elif", "Hannes", "Gwen", "Tomás", "Brigitte", "Yuki", "Noor", "Pavel", "Ruth", "Björn"),
)
SHOP_NAMES = (
    *("Radhaus Huber", "Foto Köberl", "Second Life GmbH", "Möbel & Mehr", "Kern & Söhne", "2nd Byte"),
    *("Klangwerk", 'Trödel "Zum Löwen"', "Re:Tech", "Stadtimmobilien", "Spielzeugkiste", "Bazar 21"),
)
CITIES = (
    *(("Wien", "1070"), ("Wien", "1120"), ("Wien", "1220"), ("Graz", "8010"), ("Linz", "4020")),
    *(("Salzburg", "5020"), ("Innsbruck", "6020"), ("Klagenfurt", "9020"), ("St. Pölten", "3100")),
    *(("Wörgl", "6300"), ("Dornbirn", "6850"), ("München", "80331"), ("Zürich", "8001"), ("Brno", "602 00")),
)

SENTENCES = (
    "Selling because it has been standing in the hallway for far too long.",
    "Everything works as it should; the usual signs of use are visible in the pictures.",
    "Privatverkauf, keine Rücknahme und keine Gewährleistung.",
    "Pick-up preferred, shipping is possible at the buyer's risk.",
    "Funktioniert einwandfrei, nur ein kleiner Kratzer an der Unterseite.",
    "Serviced last autumn, the invoice is included.",
    "Please ask before you come by, I am usually at home after 18:00.",
    "From a smoke-free household with two well-behaved cats.",
    "It was used for one season & then kept in a dry cellar.",
    "Bitte nur ernst gemeinte Anfragen, „letzter Preis?“ wird nicht beantwortet.",
    "The original packaging is still there, including the manual.",
    "A reliable companion that now deserves somebody with more time.",
    "Measurements are in the table below; ask me if one is missing.",
    "Pictures show the very item that you receive.",
)
# Prices in descriptions: none of them is the price of the listing.
PRICE_TALK = (
    "The new price was {much} two years ago.",
    "Accessories worth {little} are included.",
    "Comparable ones go for {much} elsewhere.",
)
# Lines with amounts beside the price, by language.
AMOUNTS_BESIDE = {
    "en": {
        "levy": "incl. {} copyright levy",
        "deposit": "plus {} deposit",
        "member-price": "Price for members: {}",
        "financing": "or {} a month for 24 months",
        "unit-price": "{} / kg",
        "trade-in": "Trade-in value of your old one: {}",
        "without-tax": "{} excl. VAT",
    },
    "de": {
        "levy": "inkl. {} Urheberrechtsabgabe",
        "deposit": "zzgl. {} Pfand",
        "member-price": "Preis für Mitglieder: {}",
        "financing": "oder 24 Monatsraten zu je {}",
        "unit-price": "Grundpreis: {} / kg",
        "trade-in": "Eintauschwert Ihres alten Geräts: {}",
        "without-tax": "{} exkl. MwSt.",
    },
}
HELP_TOPICS = (
    *(
        "Safe payment",
        "Shipping labels",
        "Report a listing",
        "Fees",
        "Impressum",
        "Data protection",
        "Cookies",
    ),
    *("Accessibility", "Press", "Jobs", "For shops", "Advertising", "Terms of use", "Right of withdrawal"),
)
