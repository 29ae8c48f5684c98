"""The two pictures of the README: `make page-screenshots`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from hf_bpe.playground.launching import shelf_of
from tests.playground.in_browser.chromium import chromium
from tests.support.playground import listening

SIDE_BY_SIDE = "A tokenizer cuts text before a model reads it:\n  127 + 677 = 804, Egg. egg EGG,\n  SolidGoldMagikarp, déjà vu"


def main(folder: Path) -> None:
    """Write both into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with listening(shelf_of([])) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1240, "height": 730}, color_scheme="light", device_scale_factor=1.5)
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        with page.expect_response("**/look"):
            page.fill("#text", SIDE_BY_SIDE)
        for ids in page.locator(".ids summary").all():
            ids.click()
        page.mouse.move(0, 0)
        save(page, folder / "playground.png")
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 1240, "height": 860})
        with page.expect_response("**/token?*"):
            page.locator(".column").nth(1).locator(".token", has_text="tokenizer").first.click()
        for _ in range(3):
            page.get_by_label("Next step").click()
        page.mouse.move(0, 0)
        page.evaluate("scrollTo(0, document.querySelector('.options').offsetTop - 20)")
        save(page, folder / "playground_token.png")
        browser.close()


def save(page: Page, path: Path) -> None:
    """A picture of what is to be seen, in 256 colours: a third of the size, and no eye sees it."""
    page.wait_for_timeout(600)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
