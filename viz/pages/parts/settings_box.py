"""The Settings button of a page: the form in a popover that closes when the run begins, and the way back.

A value that cannot be used gives a sentence under the form; the popover stays open and the run that was there stays too.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from engine.settings import Settings, SettingsError
from scenarios.fields import ScenarioError
from viz.pages.parts import page
from viz.pages.parts.settings_form import changed, settings_form

KEY = "settings"

Changes = Mapping[str, Any]


def settings_box(
    own: Settings,
    present: Settings,
    key: str,
    write: Callable[[dict[str, Any]], None],
    back: str = "Back to the scenario's settings",
    without: Sequence[str] = (),
    choices: Mapping[str, Sequence[str]] | None = None,
    more: Callable[[], Any] | None = None,
    drop: Callable[[], Any] | None = None,
) -> None:
    """Draw the button.

    own, present   settings of the run without and with the changes
    key            names what is on the screen: another one is another form
    write          takes up the changes against `own`; raises SettingsError or ScenarioError for those it cannot use
    back           label of the button that drops all changes
    without        settings that are no choice here
    choices        values of settings that have fewer here
    more           draws what stands above the form
    drop           what the button does that drops all changes, where that is more or less than writing none
    """
    is_changed = own != present
    with page.popover("Settings, changed" if is_changed else "Settings", KEY):
        with st.container(key="above-settings", horizontal=True) if is_changed or more else nullcontext():
            if more is not None:
                more()
            if is_changed:
                st.button(back, key="back-to-own", on_click=_drop, args=(drop or (lambda: write({})),))
        entered = settings_form(present, key, without, choices)
        if entered is None:
            return
        try:
            write(changed(entered, own))
        except (SettingsError, ScenarioError) as error:
            with st.container(key="refused-settings"):
                st.text(str(error))
            return
    page.close_popover(KEY)
    st.rerun()


def _drop(drop: Callable[[], Any]) -> None:
    drop()
    page.close_popover(KEY)
