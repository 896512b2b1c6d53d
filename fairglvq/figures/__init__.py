"""Arrays or a table in, a picture out: no model, no Streamlit, no file."""
