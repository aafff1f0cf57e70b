"""Words for prices without and with tax, in the languages of shops; all in lower case."""

from __future__ import annotations

import re

_TAX = (
    r"(?:(?:sales )?taxe?s?|vat|gst|hst|sst|mwst|mehrwertsteuer|u\.?st|steuern?|iva|i\.v\.a|"
    r"tva|t\.v\.a|igv|"
    r"itbis|moms|mva|merverdiavgift|btw|dph|d\.p\.h|daně|dane|ddv|pdv|kdv|alv|pvm|pvn|"
    r"käibemaks\w*|ндс|пдв|ддс|"
    r"impuestos|impostos|imposte|impôts|podatk\w+|áfa|φπα|φ\.π\.α|ppn|pajak|"
    r"מע\"?מ|(?:ال)?ضريبة(?: القيمة المضافة)?)"
)
NET = re.compile(
    r"\b(?:excl?\.?|ex\.?|exkl\.?|exc\.?|excluding|exclusive of|exclusief|exklusive|net of|"
    r"without|w/o|before:?|plus|"
    r"zzgl\.?|zuzüglich|ohne|o\.|senza|oltre|sin|más|mais|sans|hors|sem|uten|utan|uden|"
    r"ekskl\.?|eks\.?|bez|brez|be|"
    r"ilman|ilma|fără|fara|без|χωρ[ίι]ς|προ|πλ[έε]ον|ללא|לפני|לא כולל|בתוספת|بدون|قبل|"
    r"غير شامل|belum termasuk|"
    r"sebelum|chưa (?:bao )?(?:gồm )?|trước)\s?"
    rf"(?:\d+\s?%\s?)?(?:gesetzl\w*\.?\s|the\s)?{_TAX}(?!\w)"
    rf"|\b{_TAX}\.?,?\s(?:excl|exkl|ekskl|esclus|exclu|not incl|no incl|não incl|non (?:compris|incl)|"
    r"nicht enthalten|hariç|nélkül|별도|제외)"
    r"|\bnett[oó]\b|\bnet price\b|\bnettopreis\b|\bh\.?t\.?\b(?!\w)|\bhtva\b"
    r"|\+\s?(?:vat|iva|mwst|gst|kdv|áfa|tva|btw|moms|dph|pdv|ддс|ндс|φπα|ppn)\b"
    r"|\bs/\s?iva\b|\balv\s0\s?%|\bveroton\b|\bkm-ta\b"
    r"|税抜|税别|税別|本体価格|未税|未稅|不含税|不含稅|부가세 ?(?:별도|제외)|ไม่รวม ?(?:ภาษี|vat)|जीएसटी के बिना"
)
# The price includes tax, even if the words before it say "without tax" of another price.
_WITH_TAX = (
    r"(?:(?:incl?|inkl|inclusive|inclusief|inklusive|including|with|mit|avec|con|com|med|z|s|"
    r"sa|vč|včetně|vrátane|cu|"
    r"с|з|με|su|ar|sis|sisältää|koos|כולל|شامل|termasuk|đã (?:bao )?gồm)\b\.?\s?(?:\d+\s?%\s?)?"
    rf"(?:of )?{_TAX}|{_TAX}\.?,?\s(?:incl|inkl|compris|enthalten|dahil|포함)|ttc\b|t\.t\.c|"
    rf"brutt[oó]\b|áfával|"
    r"c/\s?iva|km-ga\b|税込|内税|含税|含稅|부가세 ?포함|รวม ?(?:ภาษี|vat))"
)
GROSS = re.compile(rf"^\W*{_WITH_TAX}")
GROSS_ANYWHERE = re.compile(rf"(?<!\w){_WITH_TAX}")
