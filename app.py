"""FairGLVQ Explorer: `streamlit run app.py`."""

import streamlit as st

from pages.shared import menu

# An emoji, because a material icon would be fetched from another host.
st.set_page_config(page_icon="⚖️", layout="wide")
menu.navigate().run()
