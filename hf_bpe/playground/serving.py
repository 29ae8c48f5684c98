"""Starting the server: on this machine alone unless told otherwise, at a port that is free."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable

from hf_bpe.errors import PlaygroundError
from hf_bpe.playground.shelf import Shelf

__all__ = ["DEFAULT_HOST", "DEFAULT_PORT", "bind", "serve"]

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7860
_TRIED = 100


def serve(
    shelf: Shelf,
    *,
    host: str = DEFAULT_HOST,
    port: int | None = None,
    share: bool = False,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until Ctrl-C. port: None for 7860, or the next that is free. share: also under an address that anybody can open.
    ready: called with each address.

    Raises `PlaygroundError` for a host or port that cannot be had.
    """
    import uvicorn

    from hf_bpe.playground.server import make_app

    bound = bind(host, port)
    number = bound.getsockname()[1]
    is_local = _is_loopback(host) and not share
    app = make_app(shelf, hosts={"localhost", "127.0.0.1", "[::1]", host} if is_local else None)
    ready(_address(host, number))
    if share:
        from hf_bpe.playground.sharing import share_port

        ready(share_port(number))
    # Headers of proxies are not believed, and none name this server.
    uvicorn.Server(uvicorn.Config(app, log_level="warning", proxy_headers=False, server_header=False)).run(sockets=[bound])


def bind(host: str, port: int | None) -> socket.socket:
    """A socket that listens. Raises `PlaygroundError` saying what is in the way.

    >>> bind("127.0.0.1", 0).getsockname()[0]
    '127.0.0.1'
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + _TRIED):
        try:
            return socket.create_server((host, number), family=family)
        except OverflowError:
            raise PlaygroundError(f"port {number} does not exist; ports are 0 (any that is free) to 65535") from None
        except OSError as error:
            if port is not None or error.errno != errno.EADDRINUSE:
                raise PlaygroundError(f"cannot listen on {host} port {number}: {error.strerror or error}") from None
    raise PlaygroundError(f"ports {DEFAULT_PORT} to {DEFAULT_PORT + _TRIED - 1} are all taken; choose another with port=")


def _address(host: str, port: int) -> str:
    """How this machine calls it. The names of all addresses are none that every browser opens.

    >>> _address("0.0.0.0", 7860), _address("::1", 7860)
    ('http://127.0.0.1:7860', 'http://[::1]:7860')
    """
    called = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{f'[{called}]' if ':' in called else called}:{port}"


def _is_loopback(host: str) -> bool:
    """Whether only this machine can call it.

    >>> _is_loopback("127.0.0.1"), _is_loopback("localhost"), _is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
