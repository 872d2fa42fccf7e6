"""One place, one server, and one browser for all pages; without Chromium the browser is skipped."""

import time

import pytest
from starlette.testclient import TestClient

from argus.service.app import create_app
from argus.service.config import ServeConfig
from tests.service.client import run_in_a_thread, wait_until_ready
from tests.support.hostile import make_place
from tests.support.served import RULES, check_accessible, open_browser


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("service") / "root"
    root.mkdir()
    return make_place(root)


@pytest.fixture(scope="session")
def app(place):
    return create_app(place)


@pytest.fixture(scope="session")
def client(app):
    with TestClient(app, base_url="http://127.0.0.1") as client:
        wait_until_ready(client)
        yield client


@pytest.fixture(scope="session")
def address(app):
    """Serve the application on a free port; return where."""
    with run_in_a_thread(app, ServeConfig(port=0)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def chromium():
    """A browser, closed before other tests: Playwright keeps an event loop running."""
    with open_browser() as launched:
        yield launched


class Window:
    """A page of the browser. errors: what its console said was wrong."""

    def __init__(self, context, address):
        self.page, self.address, self.errors = context.new_page(), address, []
        self.page.set_default_timeout(60_000)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))

    def _hear(self, message):
        if message.type == "error" and "422" not in message.text:
            self.errors.append(message.text)

    def open(self, path):
        self.page.goto(f"{self.address}{path}", wait_until="load")
        return self.page

    def until(self, expression):
        """Wait until something holds in the page; its policy forbids the browser's own waiting."""
        end = time.monotonic() + 60
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.03)

    def check_safe(self):
        """Fail where a script of a text ran, or the console has errors."""
        assert self.page.evaluate("window.attacked") is None
        assert self.errors == []

    def check_accessible(self, rules=RULES):
        """Fail for what axe finds serious or critical."""
        check_accessible(self.page, rules)


@pytest.fixture(scope="module")
def _context(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    yield context
    context.close()


@pytest.fixture
def window(_context, address):
    shown = Window(_context, address)
    yield shown
    shown.page.close()
