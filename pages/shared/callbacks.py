"""Callbacks run to their end, also if the next message of the browser comes just then.

Streamlit looks for a newer message before it hands a run what the older one brought, and again whenever a callback
looks at the session. If there is one, it forgets the clicks of the older one. It looks once more right after the
callbacks, so nothing waits longer if it does not look before. Importing this module is enough. That no other run of the
same visit goes on beside a callback is the work of `runner.fastReruns = false` in `.streamlit/config.toml`.
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
