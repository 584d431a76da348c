"""The script that completes an address: nothing of it can leave its string."""

from viz.pages.parts.address import STAGE, script


def test_the_parameters_are_encoded() -> None:
    text = script(STAGE, {"scenario": "</script><b>\"'`", "run": ["a", "b"]})
    assert text.count("</script>") == 1 and text.endswith("</script>")
    assert "<b>" not in text
    assert '"scenario=%3C%2Fscript%3E%3Cb%3E%22%27%60&run=a&run=b"' in text


def test_not_even_the_name_of_a_page_can_end_the_script() -> None:
    assert script("</script><b>", {"run": "a"}).count("</script>") == 1
