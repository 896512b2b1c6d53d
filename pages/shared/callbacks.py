"""Callbacks run to their end, also if the next message of the browser arrives meanwhile.

Streamlit checks for a newer message before it applies a message to the session, and whenever a callback reads the
session. If there is one, the run ends and its clicks are lost. Importing this module removes these checks; the next
one, right after the callbacks, is early enough. With `runner.fastReruns = false` in `.streamlit/config.toml` no other
run of the visit goes on beside a callback.
"""

from __future__ import annotations

from typing import Any

from streamlit.runtime.state.safe_session_state import SafeSessionState

_hand_over = SafeSessionState.on_script_will_rerun


def _hand_over_whole(self: SafeSessionState, *args: Any, **kwargs: Any) -> None:
    look = self._yield_callback
    object.__setattr__(self, "_yield_callback", lambda: None)  # its own attributes are the session's values
    try:
        _hand_over(self, *args, **kwargs)
    finally:
        object.__setattr__(self, "_yield_callback", look)


SafeSessionState.on_script_will_rerun = _hand_over_whole  # type: ignore[method-assign]
