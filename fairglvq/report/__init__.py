"""What is said about a model outside of the app: the report, its HTML, and models as files."""

from fairglvq.report.content import Card, Facts, Gap, Group, Report, Share, make, program, to_json, words

__all__ = ["Card", "Facts", "Gap", "Group", "Report", "Share", "make", "program", "to_json", "words"]
