"""The page in a browser: how tall and wide it is, and the keyboard."""

import pytest

from tests.support.browser import dom, measured

SIZES = """
const box = (query) => document.querySelector(query).getBoundingClientRect();
document.title = `inner=${innerWidth} height=${document.documentElement.scrollHeight} `
  + `width=${document.documentElement.scrollWidth} counts=${box('.counts').bottom} `
  + `actions=${box('.actions').top}`;
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_width_and_is_short(results, tmp_path, width):
    found = measured(dom(results / "report.html", tmp_path, SIZES, (width, 800)))
    assert found["inner"] == width
    if width == 1280:
        assert found["height"] < 8 * 800
        assert found["counts"] < 800 and found["actions"] < 800  # all of it on the first screen
    assert found["width"] <= width


def test_tables_are_sorted_with_the_keyboard(results, tmp_path):
    script = """
    document.querySelectorAll('details.section').forEach((d) => { d.open = true; });
    await new Promise((done) => setTimeout(done, 300));
    const table = document.querySelector('[data-table=entities] table');
    const head = [...table.querySelectorAll('th')].find((th) => th.textContent === 'related');
    const column = [...head.parentNode.children].indexOf(head);
    const rows = () => [...table.querySelectorAll('tbody tr')];
    const values = () => rows().map((r) => +r.children[column].textContent);
    const before = head.getAttribute('aria-sort');
    const button = head.querySelector('button');
    button.focus();
    const focused = document.activeElement === button && button.tabIndex === 0;
    button.click();  // what Enter does on a button that has the focus
    const up = values(), first = head.getAttribute('aria-sort');
    button.click();
    const down = values(), second = head.getAttribute('aria-sort');
    const sorted = (v, s) => v.every((x, i) => i === 0 || s * (x - v[i - 1]) >= 0);
    document.title = `none=${+(before === 'none')} focused=${+focused} `
      + `up=${+(first === 'ascending' && sorted(up, 1))} `
      + `down=${+(second === 'descending' && sorted(down, -1))}`;
    """
    found = measured(dom(results / "report.html", tmp_path, script))
    assert found == {"none": 1, "focused": 1, "up": 1, "down": 1}
