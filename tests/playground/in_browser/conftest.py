"""A page in Chromium, of a playground of our own. `make page-test` installs what this needs."""

from __future__ import annotations

import pytest
from playwright.sync_api import sync_playwright

from tests.playground.in_browser.chromium import chromium
from tests.support.playground import listening, sample_shelf


@pytest.fixture(scope="session")
def address():
    with listening(sample_shelf()) as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    if path is None:
        pytest.exit("no Chromium: install it (apt-get install chromium), or name it in the variable CHROMIUM", returncode=3)
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root, as containers do; it loads nothing but our own page here.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser, address):
    """The page, loaded. A test fails where it loads anything from elsewhere, or says anything in the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    said, asked = [], []
    opened.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(address)
    opened.wait_for_selector("body[data-ready]")
    yield opened
    context.close()
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    # That an answer is an error is said in the console by the browser itself.
    assert [text for text in said if "Failed to load resource" not in text] == []
