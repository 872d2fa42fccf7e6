"""Every page in a real browser: safe, accessible, narrow and wide, by keyboard alone."""

from urllib.parse import quote, urlencode

import pyarrow.parquet as pq
import pytest

from tests.support.hostile import ATTACKS, FIELD, ID

ATTACK = urlencode({"q": ATTACKS[1], "doc": ATTACKS[0], "id": ATTACKS[2]})
PAGES = {
    "overview": "/page/report/overview",
    "overview of answers": "/page/generative/overview",
    "why not, empty": "/page/report/why-not",
    "why not": f"/page/report/why-not?{urlencode({'q': f'alder mill {ATTACKS[0]}', 'doc': ID})}",
    "why not, which": "/page/report/why-not?q=mill&doc=mill",
    "why not, no document": f"/page/report/why-not?{urlencode({'q': ATTACKS[1]})}",
    "why not, nothing": f"/page/report/why-not?{ATTACK}",
    "documents": "/page/report/documents",
    "documents of a slice": "/page/report/documents?"
    + urlencode({"slice": f"{FIELD}={ATTACKS[0]}", "q": ""}),
    "documents, none": f"/page/report/documents?{ATTACK}",
    "documents, refused": f"/page/report/documents?{urlencode({'sort': ATTACKS[0]})}",
    "document": f"/page/report/document?{urlencode({'id': ID})}",
    "authority": "/page/report/authority?as_of=2024-02-10",
    "authority, refused": f"/page/report/authority?{urlencode({'as_of': ATTACKS[0][:30]})}",
    "compare": f"/page/comparison/compare?{urlencode({'q': f'mill {ATTACKS[1]}'})}",
    "generative": "/page/generative/generative?" + urlencode({"id": f"q2 {ATTACKS[0]}"}),
    "map": "/page/report/map",
    "nothing to show": "/page/generative/documents",
    "a folder that is none": f"/page/{quote(ATTACKS[1], safe='')}/overview",
}
LOOKED_AT = {
    "overview", "why not", "documents", "document", "authority", "compare", "generative", "map",
    "nothing to show",
}  # fmt: skip
"""Pages of a layout of their own: axe takes about a second for each."""
DARK = {"overview", "why not", "authority"}
"""Those with all colours that there are."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_no_script_of_a_text_and_is_accessible_and_fits_a_telephone(window, name):
    page = window.open(PAGES[name])
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == page.locator("nav[aria-label=Pages]").count() == 1
    if name == "map":
        page.wait_for_selector("#box table")
    if name in LOOKED_AT:
        window.check_accessible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if name in DARK:
        page.emulate_media(color_scheme="dark")
        window.check_accessible("{runOnly: {type: 'rule', values: ['color-contrast']}}")
    window.check_safe()


def test_a_table_is_sorted_and_searched_in_its_place_and_the_address_says_so(window, place):
    page = window.open("/page/report/documents")
    rows = pq.read_table(place.folder("report").path / "retrievability.parquet").to_pylist()
    scores = sorted(f"{r['rps']:.3f}" for r in rows if r["rps"] is not None)
    column = page.locator("#rows th").all_inner_texts().index("RPS")

    def shown():
        cells = page.locator(f"#rows tbody tr td:nth-child({column + 1})").all_inner_texts()
        return [cell for cell in cells if cell != "–"]

    page.click("#sort-rps")
    page.wait_for_selector("th[aria-sort=ascending]")
    assert shown() == scores and page.url.endswith("?sort=rps")
    assert page.evaluate("document.activeElement.id") == "sort-rps"
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending]")
    assert shown() == scores[::-1]
    page.fill("input[name=q]", "juniper")
    window.until("document.querySelectorAll('#rows tbody tr').length === 4")
    assert "sort=-rps" in page.url and "q=juniper" in page.url
    page.go_back()
    window.until("document.querySelectorAll('#rows tbody tr').length === 41")
    window.check_safe()


def test_by_keyboard_alone_one_skips_to_the_content_asks_and_turns_the_colours(window):
    page = window.open("/page/report/why-not")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("where is the juniper mill")
    page.keyboard.press("Tab")
    page.keyboard.type("juniper m")
    page.wait_for_selector("#titles option", state="attached")
    assert page.locator("#titles option").first.get_attribute("value") == "juniper-mill"
    page.keyboard.type("ill")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict")
    assert "Juniper mill" in page.inner_text("#answer")
    assert page.locator("mark", has_text="juniper").count() >= 1
    page.locator("[data-do=theme]").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.evaluate("localStorage.clear()")
    window.check_safe()


def test_the_date_is_moved_and_the_chain_follows(window):
    page = window.open("/page/report/authority")
    states = "#chain table .level"
    assert page.locator(states).all_inner_texts() == ["Superseded", "Superseded", "In force"]
    page.locator("#slide").focus()
    page.keyboard.press("Home")
    window.until(f"document.querySelector('{states}').textContent === 'not yet'")
    assert page.evaluate("document.activeElement.id") == "slide"  # a drag is not broken off
    page.fill("#as-of", "2024-02-10")
    window.until(f"document.querySelectorAll('{states}')[1].textContent === 'in force'")
    assert page.locator(states).all_inner_texts() == ["Superseded", "In force", "Not yet"]
    assert "as_of=2024-02-10" in page.url
    assert page.get_attribute("#slide", "aria-valuetext") == "2024-02-10"
    window.check_safe()


def test_the_map_is_moved_by_keys_and_lists_what_is_in_view(window):
    page = window.open("/page/report/map")
    page.wait_for_selector("#box table")
    counted = int(page.get_attribute("#map", "data-count"))
    assert page.inner_text("#box p").startswith(f"{counted} documents")
    page.locator("#map").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#point:not([hidden]) a")
    for _ in range(12):
        page.keyboard.press("+")
    window.until(f"!document.querySelector('#box p').textContent.startsWith('{counted} ')")
    window.until("(({ drawn, count }) => drawn === count)(document.getElementById('map').dataset)")
    page.click("[data-band=low]")
    page.wait_for_selector("[data-band=low][aria-pressed=false]")
    page.click("[data-zoom=all]")
    window.until("![...document.querySelectorAll('#box .band')].some(b => b.textContent === 'low')")
    window.check_safe()
