"""Checksums that tell a card or an account from any other number."""

from __future__ import annotations

from typing import Final

IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Characters of an account number by country (ISO 13616)."""


def is_card(digits: str) -> bool:
    """Return whether 13 to 19 digits are a card's: the check digit of Luhn (ISO/IEC 7812)."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1 or digits[0] not in "23456":
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def iban_end(text: str) -> int:
    """Return where an account number at the start of a text ends; 0 where there is none.

    text: may have spaces between its groups. The remainder by 97 is to be 1 (ISO 7064).
    """
    length = IBAN_LENGTHS.get(text[:2].upper(), 0)
    compact, end = "", 0
    for character in text:
        end += 1
        if character in " -":
            continue
        if not (character.isascii() and character.isalnum()):
            break
        compact += character.upper()
        if len(compact) == length:
            break
    if not length or len(compact) != length or text[end : end + 1].isalnum():
        return 0
    digits = "".join(str(int(c, 36)) for c in compact[4:] + compact[:4])
    return end if int(digits) % 97 == 1 else 0
