"""Reports as single HTML pages: the frame they share, and plots as SVG inside them. Nothing is fetched."""

from hf_bpe.pages.page import page
from hf_bpe.pages.plots import Axes, Draw, check_plots, literal, svg
from hf_bpe.pages.targets import check_target

__all__ = ["Axes", "Draw", "check_plots", "check_target", "literal", "page", "svg"]
