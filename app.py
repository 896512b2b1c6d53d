"""FairGLVQ Explorer: `streamlit run app.py`."""

import streamlit as st

# An emoji, because a material icon would be fetched from another host.
st.set_page_config(page_title="FairGLVQ Explorer", page_icon="⚖️", layout="wide")
pages = [st.Page("pages/playground.py", title="Playground", default=True)]
st.navigation(pages, position="top").run()
