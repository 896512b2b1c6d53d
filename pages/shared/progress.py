"""How long something still takes, in words."""


def time_left(seconds: float) -> str:
    """An estimate in words."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s to go"
    return f"about {seconds / 60:.0f} min to go" if seconds < 5400 else f"about {seconds / 3600:.1f} h to go"
