"""A page out of a template that fills in the blocks of `base.html.jinja`."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from hf_bpe.pages.wording import decimal, percent, thousands

__all__ = ["page"]


def page(template: str, **content: Any) -> str:
    """The page. template: a resource of this package, such as "training/report/page.html.jinja". content: what its names stand for."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: files("hf_bpe").joinpath(name).read_text("utf-8")),
    )
    environment.filters |= {"percent": percent, "thousands": thousands, "decimal": decimal}
    return environment.get_template(template).render(**content)
