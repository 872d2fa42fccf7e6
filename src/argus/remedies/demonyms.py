"""Adjectives of places ("Canadian") and the places that they are of ("Canada").

A list and no rule: by endings alone "Niger" would give "Nigerian" and "Norma" would give "Norman".
"""

from __future__ import annotations

_DEMONYMS = """
Afghanistan:Afghan Africa:African Albania:Albanian Algeria:Algerian America:American
Andorra:Andorran Angola:Angolan Arabia:Arabian Argentina:Argentine Argentina:Argentinian
Armenia:Armenian Asia:Asian Athens:Athenian Australia:Australian Austria:Austrian
Azerbaijan:Azerbaijani Bahrain:Bahraini Bangladesh:Bangladeshi Barbados:Barbadian Bavaria:Bavarian
Belarus:Belarusian Belgium:Belgian Benin:Beninese Bhutan:Bhutanese Bohemia:Bohemian
Bolivia:Bolivian Bosnia:Bosnian Boston:Bostonian Botswana:Botswanan Brazil:Brazilian
Britain:British Brunei:Bruneian Bulgaria:Bulgarian Burma:Burmese Burundi:Burundian
California:Californian Cambodia:Cambodian Cameroon:Cameroonian Canada:Canadian Castile:Castilian
Catalonia:Catalan Chad:Chadian Chicago:Chicagoan Chile:Chilean China:Chinese Colombia:Colombian
Congo:Congolese Cornwall:Cornish Corsica:Corsican Crete:Cretan Croatia:Croatian Cuba:Cuban
Cyprus:Cypriot Denmark:Danish Djibouti:Djiboutian Ecuador:Ecuadorian Egypt:Egyptian
England:English Eritrea:Eritrean Estonia:Estonian Ethiopia:Ethiopian Europe:European Fiji:Fijian
Finland:Finnish Flanders:Flemish Florence:Florentine Florida:Floridian France:French Gabon:Gabonese
Gambia:Gambian Genoa:Genoese Georgia:Georgian Germany:German Ghana:Ghanaian Greece:Greek
Greenland:Greenlandic Guatemala:Guatemalan Guinea:Guinean Guyana:Guyanese Haiti:Haitian
Hawaii:Hawaiian Honduras:Honduran Hungary:Hungarian Iceland:Icelandic India:Indian
Indonesia:Indonesian Iran:Iranian Iraq:Iraqi Ireland:Irish Israel:Israeli Italy:Italian
Jamaica:Jamaican Japan:Japanese Java:Javanese Jordan:Jordanian Kazakhstan:Kazakh Kenya:Kenyan
Korea:Korean Kosovo:Kosovar Kuwait:Kuwaiti Kyrgyzstan:Kyrgyz Lanka:Lankan Laos:Laotian
Latvia:Latvian Lebanon:Lebanese Leone:Leonean Lesotho:Basotho Liberia:Liberian Libya:Libyan
Liechtenstein:Liechtensteiner Lithuania:Lithuanian Luxembourg:Luxembourgish Macedonia:Macedonian
Madagascar:Malagasy Malawi:Malawian Malaysia:Malaysian Maldives:Maldivian Mali:Malian
Malta:Maltese Mauritania:Mauritanian Mauritius:Mauritian Mexico:Mexican Milan:Milanese
Moldova:Moldovan Monaco:Monegasque Mongolia:Mongolian Montenegro:Montenegrin Morocco:Moroccan
Mozambique:Mozambican Myanmar:Burmese Namibia:Namibian Naples:Neapolitan Nepal:Nepalese
Netherlands:Dutch Nicaragua:Nicaraguan Niger:Nigerien Nigeria:Nigerian Normandy:Norman
Norway:Norwegian Oman:Omani Pakistan:Pakistani Palestine:Palestinian Panama:Panamanian
Paraguay:Paraguayan Paris:Parisian Persia:Persian Peru:Peruvian Philippines:Philippine
Philippines:Filipino Poland:Polish Portugal:Portuguese Prussia:Prussian Qatar:Qatari Rica:Rican
Rico:Rican Romania:Romanian Rome:Roman Russia:Russian Rwanda:Rwandan Salvador:Salvadoran
Samoa:Samoan Sardinia:Sardinian Saxony:Saxon Scotland:Scottish Senegal:Senegalese Serbia:Serbian
Siberia:Siberian Sicily:Sicilian Singapore:Singaporean Slovakia:Slovak Slovenia:Slovene
Slovenia:Slovenian Somalia:Somali Spain:Spanish Sudan:Sudanese Suriname:Surinamese Sweden:Swedish
Switzerland:Swiss Syria:Syrian Taiwan:Taiwanese Tajikistan:Tajik Tanzania:Tanzanian Texas:Texan
Thailand:Thai Tibet:Tibetan Togo:Togolese Tonga:Tongan Tunisia:Tunisian Turkey:Turkish
Turkmenistan:Turkmen Tuscany:Tuscan Uganda:Ugandan Ukraine:Ukrainian Uruguay:Uruguayan
Uzbekistan:Uzbek Venezuela:Venezuelan Venice:Venetian Vienna:Viennese Vietnam:Vietnamese
Wales:Welsh Yemen:Yemeni Yugoslavia:Yugoslav Zambia:Zambian Zimbabwe:Zimbabwean
"""


def _places() -> dict[str, frozenset[str]]:
    places_of: dict[str, set[str]] = {}
    for pair in _DEMONYMS.split():
        place, demonym = pair.casefold().split(":")
        places_of.setdefault(demonym, set()).add(place)
    return {demonym: frozenset(places) for demonym, places in places_of.items()}


PLACES = _places()
"""Demonym to the places that it is of; both case-folded. Compound names by their last word."""
