"""A client of the service in this process."""

import re

from starlette.testclient import TestClient

ADDRESS = "http://127.0.0.1:8765"


class Client(TestClient):
    """Calls the service by an address that it answers to; as a browser, once it has been a page."""

    def __init__(self, app, **options):
        super().__init__(app, base_url=ADDRESS, **options)

    def open(self, path):
        """Open a page as a browser: what changes something is sent with its token from then on."""
        page = self.get(path, headers={"accept": "text/html"})
        token = re.search(r'name="csrf" content="([0-9a-f]+)"', page.text)
        if token:
            self.headers["X-CSRF-Token"] = token[1]
        return page
