"""A model outside of the app: its report, the report as HTML, model files, and scripts that reproduce numbers."""
