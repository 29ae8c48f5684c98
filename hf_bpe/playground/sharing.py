"""An address that anybody can open, through the tunnels that gradio offers to its users."""

from __future__ import annotations

import secrets

from hf_bpe.errors import PlaygroundError

__all__ = ["share_port"]


def share_port(port: int) -> str:
    """Make a port of this machine reachable for a while; its address. Needs gradio, and the network.

    Raises `PlaygroundError` where gradio is not installed, and where its tunnel does not open.
    """
    try:
        from gradio.networking import setup_tunnel
    except ImportError:
        raise PlaygroundError(
            "sharing goes through the tunnels of gradio, which is not installed: pip install gradio"
        ) from None
    try:
        return str(setup_tunnel("127.0.0.1", port, secrets.token_urlsafe(32), None, None))
    except Exception as error:  # noqa: BLE001  # gradio raises bare ones, and those of what it downloads with
        raise PlaygroundError(
            f"the tunnel did not open: {error}. Start without sharing, and forward the port instead: ssh -L {port}:localhost:{port}"
        ) from None
