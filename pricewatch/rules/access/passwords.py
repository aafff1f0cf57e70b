"""Which passwords, and which names of people and tokens, are accepted."""

from __future__ import annotations

import re
import unicodedata

MIN_LENGTH = 12
MAX_LENGTH = 128
# Recognisable in logs and in scans for leaked secrets.
TOKEN_PREFIX = "pw_"  # noqa: S105 - not a secret
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
# Letters and digits of the commonest passwords that have at least 12 characters.
_COMMON_WORDS = """
000000000000 0123456789ab 098765432109 0987654321qwe 111111111111 112233445566 121212121212 123123123123
123321123321 1234123412341234 123412341234 12345678901 123456789012 1234567890123 12345678901234
123456789012345 1234567890123456 12345678910 1234567891011 123456789101112 123456789123 123456789123456789
1234567891234 1234567898765 123456789987654321 1234567890qwe 1234567890qwertyuiop 123456789abc 123456789qwe
123456987456 12345qwertasdfg 123456qwerty 123456abcdef 12qwaszx34er 147258369147 147852369147 159357159357
1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc 222222222222
333333333333 444444444444 456456456456 555555555555 654321654321 666666666666 741852963741 777777777777
789456123000 789456123789 888888888888 987654321000 987654321098 987654321987 999999999999 a1b2c3d4e5f6
a1s2d3f4g5h6 aaaaaaaaaaaa abc123abc123 abcabcabcabc abcd1234abcd abcdef123456 abcdefgh1234 abcdefghijkl
abcdefghijklm abcdefghijklmnop abcdefghijklmnopqrstuvwxyz access123456 adgjmptwadgjmptw admin1234567
admin12345678 adminadminadmin administrator administrator1 alexander123 asdasdasdasd asdf1234asdf
asdfasdfasdf asdfghjkl123 asdfghjkl1234 asdfghjklzxcvbnm azertyuiop123 azertyuiopqs basketball12
bismillah123 butterfly123 changeme1234 changemechangeme changeme12345 changemenow1 charlie12345 chocolate123
christopher1 computer1234 correcthorsebatterystaple dolphin12345 dragon123456 dragondragon elizabeth123
facebook1234 football1234 footballfootball freedom12345 google123456 hello1234567 hellohello12
hellohellohello iloveyou1234 iloveyou12345 iloveyouiloveyou iloveyousomuch internet1234 jesuschrist1
jordan123456 killer123456 letmein12345 letmeinletmein liverpool123 liverpoolfc1 lovelovelove manchester12
master123456 michael12345 microsoft123 minecraft123 monkey123456 monkeymonkey mypassword12 mypassword123
newpassword1 nopassword12 ninja1234567 pa55word1234 passpasspass passw0rd1234 passw0rd12345 password0000
password1111 password1212 password1234 password12345 password123456 password1234567 password12345678
password123456789 password1password1 password2020 password2021 password2022 password2023 password2024
password2025 password2026 password4321 passwordpassword passwordpassword1 pokemon12345 pricewatch12
pricewatch123 pricewatch1234 pricewatchpricewatch princess1234 princess12345 q1w2e3r4t5y6 q1w2e3r4t5y6u7
qawsedrftgyh qazwsxedc123 qazwsxedcrfv qazxswedcvfr qq123456789 qqww1122ee33 qweasdzxc123 qweqweqweqwe
qwer1234asdf qwer1234qwer qwerasdfzxcv qwert1234567 qwert12345yuiop qwerty123456 qwerty1234567
qwerty12345678 qwerty123456789 qwertyasdfgh qwertyasdfghzxcvbn qwertyqwerty qwertyuiop10 qwertyuiop12
qwertyuiop123 qwertyuiop1234 qwertyuiop1234567890 qwertyuiopas qwertyuiopasdf qwertyuiopasdfghjkl
qwertyuiopasdfghjklzxcvbnm root12345678 rootrootroot samsung12345 secret123456 secretsecret shadow123456
spiderman123 starwars1234 startrek1234 summer202312 summer2024summer sunshine1234 superman1234 supersecret1
temp12345678 test12345678 testtesttest thisismypassword trustno11234 trustno1trustno1 unknown12345
user12345678 welcome12345 welcome123456 welcome1welcome1 welcomewelcome whatever1234 winter202312
woaini123456 yellowsubmarine youllneverwalkalone zaq12wsxcde3 zaq1xsw2cde3 zxcvbnm12345 zxcvbnm123456
zxcvbnmasdfg zxcvbnmasdfghjkl zxcvbnmzxcvbnm
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def normal_password(password: str) -> str:
    """The same password however a keyboard composes its characters."""
    return unicodedata.normalize("NFKC", password)


def password_problem(password: str, name: str) -> str | None:
    """Return why a password is refused; any characters are allowed, spaces included."""
    password = normal_password(password)
    if len(password) < MIN_LENGTH:
        return f"A password has at least {MIN_LENGTH} characters: a few words are easy to remember."
    if len(password) > MAX_LENGTH:
        return f"A password has at most {MAX_LENGTH} characters."
    if "\x00" in password:
        return "A password cannot contain NUL characters."
    if password.startswith(TOKEN_PREFIX):
        return f"A password cannot start with {TOKEN_PREFIX}, which marks tokens."
    simple = "".join(re.findall(r"[^\W_]", password.casefold()))
    if simple in _COMMON or len(set(simple)) < 3:
        return "This password is one of the commonest: choose another one."
    if name and simple.replace("".join(re.findall(r"[^\W_]", name.casefold())), "").strip("0123456789") == "":
        return "A password cannot be the name of the person: choose another one."
    return None


def name_problem(name: str) -> str | None:
    """Return why the name of a person is refused."""
    if _NAME.fullmatch(name):
        return None
    return "A name has 1 to 64 letters, digits and . _ @ -, and starts with a letter or digit. Example: ada"


def token_name_problem(name: str) -> str | None:
    """Return why the name of a token is refused."""
    if 0 < len(name) <= 100 and name.isprintable() and name == name.strip():
        return None
    return "A token has a name of 1 to 100 characters that says what uses it. Example: prometheus"
