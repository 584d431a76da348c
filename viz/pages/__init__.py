"""The pages of the app, one thin Streamlit script a file; what they share is in `parts`."""
