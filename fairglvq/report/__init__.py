"""A model outside of the app: its report, the report as HTML, model files, and scripts that reproduce numbers."""


def handout_name(language: str, *, answers: bool) -> str:
    """What the file of a handout is called; here, because whoever only names it trains nothing."""
    return f"fairglvq-{'answers' if answers else 'handout'}-{language}.html"
