"""The page Live alone, on the real model: one thread is enough, and the browser needs the other processor."""

from pathlib import Path

import streamlit as st
import torch

torch.set_num_threads(1)
ROOT = Path(__file__).resolve().parent.parent.parent
st.set_page_config(layout="wide")
st.navigation([st.Page(ROOT / "viz/pages/live.py", title="Live")]).run()
