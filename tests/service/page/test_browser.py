"""Every page in a real browser: safe, accessible, narrow and wide, by keyboard alone."""

from urllib.parse import quote, urlencode

import pytest

from tests.support.hostile import ATTACKS, ID

ATTACK = urlencode({"q": ATTACKS[1], "doc": ATTACKS[0], "id": ATTACKS[2]})
PAGES = {
    "overview": "/page/report/overview",
    "why not, empty": "/page/report/why-not",
    "why not": f"/page/report/why-not?{urlencode({'q': f'alder mill {ATTACKS[0]}', 'doc': ID})}",
    "why not, nothing": f"/page/report/why-not?{ATTACK}",
    "documents": "/page/report/documents",
    "documents, none": f"/page/report/documents?{ATTACK}",
    "document": f"/page/report/document?{urlencode({'id': ID})}",
    "authority": "/page/report/authority?as_of=2024-02-10",
    "nothing to show": "/page/comparison/documents",
    "a folder that is none": f"/page/{quote(ATTACKS[1], safe='')}/overview",
}
# Pages of a layout of their own: axe takes about a second for each.
LOOKED_AT = {
    "overview", "why not", "documents", "document", "authority", "nothing to show",
}  # fmt: skip
# Those with all colours that there are.
DARK = {"overview", "why not", "authority"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_no_script_of_a_text_and_is_accessible_and_fits_a_telephone(window, name):
    page = window.open(PAGES[name])
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == page.locator("nav[aria-label=Pages]").count() == 1
    if name in LOOKED_AT:
        window.check_accessible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if name in DARK:
        page.emulate_media(color_scheme="dark")
        window.check_accessible("{runOnly: {type: 'rule', values: ['color-contrast']}}")
    window.check_safe()


def test_wide_the_content_is_centred_and_narrow_the_navigation_shows_that_it_scrolls(window):
    page = window.open(PAGES["documents"])
    page.set_viewport_size({"width": 2560, "height": 1200})
    nav, main = (page.locator(one).bounding_box() for one in (".pages", "main"))
    before, after = main["x"] - nav["width"], 2560 - main["x"] - main["width"]
    assert before == pytest.approx(after, abs=20) and before > 50  # a bar of 15 to scroll
    page.set_viewport_size({"width": 390, "height": 800})
    scrolls = "nav => [nav.scrollWidth > nav.clientWidth, getComputedStyle(nav).background]"
    is_wider, shadow = page.eval_on_selector(".pages", scrolls)
    assert is_wider and "local" in shadow and "gradient" in shadow


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
