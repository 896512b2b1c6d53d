"""A model outside of the app: its report, the report as HTML, model files, and scripts that reproduce numbers."""


def handout_name(language: str, *, answers: bool) -> str:
    """The file name of a handout; here, so that naming it does not import what trains its models."""
    return f"fairglvq-{'answers' if answers else 'handout'}-{language}.html"
