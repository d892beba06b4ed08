"""Policies in another process or on another machine, over a WebSocket (extra `remote`).

```python
import numpy as np
from harness.policies.remote import serve

def act(obs):  # u8[N, 128, 128, 3]
    return np.full(len(obs), 6)

serve(act, port=8000)
```

and then `--policy ws://127.0.0.1:8000`. Any server that speaks the wire of openpi's policy servers
works the same way. Messages are mappings (see `harness.policies.wire`):

```
server  {...}                                         once, on connecting: what it is
client  {"observation/image": u8[H, W, C]}            one observation
server  {"actions": ...}                              a whole number; or a chunk, [horizon] or
                                                      [horizon, 1], of which the first is taken and
                                                      the rest dropped: every step is asked for
server  a text frame                                  an error, instead of an answer
```

A server whose first message has {"heldout": {"version": 1}} (as `serve` sends it) is asked for all
lanes at once instead, {"observation/image": u8[N, H, W, C], "episodes": i32[N], "reset": bool[N],
"seed": int}, and answers with N actions. `episodes` tells running episodes apart, `reset` says
which of them begin (with fresh memory), `seed` is there for policies that sample.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urldefrag

import numpy as np

from envs.errors import InputError
from harness.policies import wire
from harness.policies.observations import Obs
from harness.policy import Policy

try:
    from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
    from websockets.sync import client as ws_client
except ImportError:
    raise InputError("websockets 15 or newer is needed: pip install 'heldout[remote]'") from None

VERSION = 1
KEY = "observation/image"
TIMEOUT = 60.0  # seconds for an answer; the first one may have to compile
SCHEMES = ("ws://", "wss://")


class RemoteError(RuntimeError):
    """The other side failed, or its answer is none. Its text is one line."""


def connect(
    url: str, *, key: str | None = None, extra: Mapping[str, Any] | None = None,
    timeout: float = TIMEOUT, obs: Obs | None = None, actions: str | None = None,
    seed: int | None = None,
) -> Policy:  # fmt: skip
    """Return the policy that a server offers.

    Args:
        url: ws://HOST:PORT, or wss://. What follows a # is the key: ws://127.0.0.1:8000#image.
        key: under which name an observation is sent; "observation/image" by default.
        extra: what else goes into every message, such as {"prompt": "..."}.
        timeout: seconds within which an answer has to come.
        obs: how the policy sees, if not the raw observation (see `harness.Obs`).
        actions: "sample" says that the policy draws numbers of its own, so that playing an episode
            again may go otherwise; by default what the server says.
        seed: its training seed.

    Raises:
        InputError: nothing listens there, or what listens is no policy server.
    """
    address, fragment = urldefrag(url)
    asker = _Asker(address, key or fragment or KEY, dict(extra or {}), timeout)
    ours = asker.ours or {}
    return Policy(
        name=url,
        apply=asker.act,
        kind="host-batch",
        weights={"url": url, "server": asker.ours},
        carry=np.int32(-1),  # the number of the episode in the server's memory; none yet
        actions=actions or ours.get("actions", "own"),
        seed=seed,
        obs=obs,
        declared=True,
    )


class _Asker:
    """One connection to a server; without `__dict__`, as a socket says nothing on a policy."""

    __slots__ = (
        "__weakref__", "begun", "close", "connection", "extra", "key", "ours", "timeout", "url",
    )  # fmt: skip

    def __init__(self, url: str, key: str, extra: dict[str, Any], timeout: float) -> None:
        self.url, self.key, self.extra, self.timeout = url, key, extra, timeout
        self.begun = 0  # episodes
        stack = ExitStack()
        try:
            # Pings stay off: a server that computes in its event loop cannot answer them.
            opening = ws_client.connect(
                url, open_timeout=timeout, compression=None, max_size=None, ping_interval=None,
                proxy=None,
            )  # fmt: skip
            self.connection = stack.enter_context(opening)
            metadata = self._receive()
        except (OSError, WebSocketException, RemoteError) as error:
            stack.close()
            raise InputError(_not_connected(url, error)) from None
        self.close = weakref.finalize(self, stack.close)
        self.ours = _announced(url, metadata)

    def act(self, weights: Any, numbers: Any, obs: np.ndarray, seed: int) -> tuple[Any, Any]:
        """Ask for the actions of N observations; returns them and the episodes' numbers."""
        numbers = np.array(numbers, np.int32)
        new = numbers < 0
        numbers[new] = self.begun + np.arange(new.sum())
        self.begun += int(new.sum())
        if self.ours is None:
            return np.array([self._first(one) for one in obs]), numbers
        batch = {"episodes": numbers, "reset": new, "seed": seed}
        actions = np.asarray(self._ask({**self.extra, **batch, self.key: obs}))
        return _whole(self.url, actions), numbers

    def _first(self, obs: np.ndarray) -> int:
        """Return the first action of the chunk that a server answers to one observation."""
        actions = np.asarray(self._ask({**self.extra, self.key: obs}))
        if actions.ndim > 2 or actions.size == 0 or (actions.ndim == 2 and actions.shape[1] != 1):
            raise RemoteError(
                f"{self.url} answered actions of shape {actions.shape}, expected a whole number, "
                "or a chunk of them, [horizon] or [horizon, 1]"
            )
        return int(_whole(self.url, actions.reshape(-1)[:1])[0])

    def _ask(self, message: Mapping[str, Any]) -> Any:
        try:
            self.connection.send(wire.pack(message))
        except (OSError, WebSocketException) as error:
            raise RemoteError(f"{self.url} cannot be asked any more ({_line(error)})") from None
        answer = self._receive()
        if "actions" not in answer:
            raise RemoteError(f"{self.url} answered {sorted(map(str, answer))}, without 'actions'")
        return answer["actions"]

    def _receive(self) -> dict[str, Any]:
        try:
            data = self.connection.recv(timeout=self.timeout)
        except TimeoutError:
            raise RemoteError(f"{self.url} gave no answer within {self.timeout:g} s") from None
        except ConnectionClosed as error:
            raise RemoteError(f"{self.url} closed the connection ({_line(error)})") from None
        if isinstance(data, str):
            raise RemoteError(f"{self.url} raised: {_last_line(data)}")
        try:
            return wire.unpack(data)
        except wire.WireError as error:
            raise RemoteError(f"{self.url}: {error}") from None


def _whole(url: str, actions: np.ndarray) -> np.ndarray:
    """Return actions as whole numbers; many servers send all their numbers as floats."""
    if actions.dtype.kind == "f" and np.isfinite(actions).all():
        whole = actions.astype(np.int64)
        if (whole == actions).all():
            return whole
    if actions.dtype.kind not in "iu":
        shown = actions.reshape(-1)[:4].tolist()
        raise RemoteError(f"{url} answered {actions.dtype} {shown}, expected whole numbers")
    return actions


def _announced(url: str, metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a server of ours says about itself; None of any other."""
    ours = metadata.get("heldout")
    if ours is None:
        return None
    version = ours.get("version") if isinstance(ours, dict) else ours
    if version != VERSION:
        raise InputError(f"{url} speaks version {version!r}, this program speaks {VERSION}")
    return dict(ours)


def _not_connected(url: str, error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"{url}: nothing listens there; start the policy server first"
    if isinstance(error, TimeoutError):
        return f"{url}: no answer; is it a policy server?"
    if isinstance(error, InvalidURI):
        return f"{url}: not an address such as ws://127.0.0.1:8000"
    if isinstance(error, RemoteError):
        return f"{error}; is it a policy server?"
    return f"{url}: no policy server answers there ({_line(error)})"


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def _last_line(text: str) -> str:
    """Return what an error text says: the last line of a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "an error without words")[:300]


# ------------------------------------------------------------------------------------- serving


def serve(policy: Any, port: int = 8000, host: str = "127.0.0.1", *, key: str = KEY) -> None:
    """Offer a policy at ws://HOST:PORT until Ctrl-C.

    Args:
        policy: a function of a NumPy batch u8[N, H, W, C] or of one observation, as in
            `harness.policy` (kinds "host-batch" and "host-single"), with or without a memory.
        host: by default only programs on this machine can connect. Whoever connects can ask the
            policy, so give another address only in a network that you trust.
        key: under which name observations come.
    """
    with _server(policy, host, port, key) as (server, url):
        print(f"serving at {url} (Ctrl-C stops)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped")


@contextmanager
def serving(
    policy: Any, port: int = 0, host: str = "127.0.0.1", *, key: str = KEY
) -> Iterator[str]:
    """As `serve`, beside the running program: `with serving(policy) as url: ...`."""
    with _server(policy, host, port, key) as (server, url):
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _server(policy: Any, host: str, port: int, key: str) -> Iterator[tuple[Any, str]]:
    from websockets.sync.server import serve as listen

    from harness.policies.serving import Service

    service = Service(policy, key)
    try:
        # Browsers name an origin, policy clients do not: no web page can ask through its reader.
        opened = listen(
            service.attend, host, port, compression=None, max_size=None, ping_interval=None,
            origins=[None],
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"cannot serve at {host}:{port}: {error.strerror}") from None
    with opened as server:
        yield server, f"ws://{host}:{server.socket.getsockname()[1]}"
