"""The player's files: small, complete, silent towards every host, and one vocabulary with Python."""

import gzip
import json
import re
import struct
import sys
from pathlib import Path

import pytest

from engine.request import SequenceStatus
from engine.trace import track
from tests.browser.player_page import player_page
from viz import player
from viz.player import envelope
from viz.player.script import javascript, joined, source_files, stripped, stylesheet
from viz.player.words import labels

FOLDER = Path(player.__file__).parent / "js"
SVG_NAMESPACE = "http://www.w3.org/2000/svg"


def vocabulary() -> dict:
    return json.loads(json.dumps(labels("en")["vocabulary"]))


def test_all_files_together_stay_small_when_they_are_compressed():
    assert len(gzip.compress(javascript().encode())) < 63_000
    assert len(gzip.compress(stylesheet().encode())) < 8_000


def test_a_machine_without_the_minifier_gets_the_same_code(monkeypatch):
    monkeypatch.setitem(sys.modules, "minify", None)
    code = javascript.__wrapped__()
    assert joined() in code
    assert code.endswith("export default entry;\n")


def test_what_is_delivered_has_inner_newlines():
    assert "\n" in javascript().strip()
    assert "\n" in stylesheet().strip()


def test_every_file_is_joined_exactly_once_and_the_entry_comes_last():
    names = source_files()
    assert sorted(names) == sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js"))
    assert names[-1] == "player/main.js"


def test_every_line_of_code_is_delivered_as_a_line_of_its_own():
    lines = []
    for name in source_files():
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.strip().startswith("//"):
                lines.append(line.strip())
    assert joined().split("\n") == lines


def used_too_early(code: str) -> list[str]:
    """Patterns [a, b] of a minified declaration that need a name which the same declaration gives only later.

    The minifier may move a pattern in front of what it needs. Values with functions in them run later, or not at all.
    """
    found = []
    for start in re.finditer(r"\b(?:const|let) ?(?=\[)", code):
        depth, part, parts = 0, start.end(), []
        for at in range(start.end(), len(code)):
            depth += (code[at] in "([{") - (code[at] in ")]}")
            if depth < 0 or (depth == 0 and code[at] in ",;"):
                parts.append(code[part:at])
                part = at + 1
                if depth < 0 or code[at] == ";":
                    break
        for i, text in enumerate(parts):
            value = text.partition("]=")[2]
            later = [name[0] for other in parts[i + 1 :] if (name := re.match(r"[\w$]+(?==)", other))]
            if "=>" not in value and set(later) & set(re.findall(r"(?<![\w$.])[A-Za-z_$][\w$]*(?!:)", value)):
                found.append(text)
    return found


def test_the_minifier_puts_no_pattern_in_front_of_what_it_needs():
    assert used_too_early("const[a,b]=[x/c,y],c=f(x);g(a,b)") == ["[a,b]=[x/c,y]"]
    assert used_too_early("const[a,b]=[x/2,y.c],c=f(a);g(b)") == []
    assert used_too_early(javascript()) == []


@pytest.mark.parametrize("name", source_files())
def test_no_text_goes_on_over_the_end_of_a_line_where_stripping_would_change_it(name):
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        code = "" if line.strip().startswith("//") else line
        assert len(re.findall(r"(?<!\\)`", code)) % 2 == 0, line
        assert not code.endswith("\\"), line
        assert "/*" not in re.sub(r"\"[^\"]*\"|`[^`]*`", "", code), line


def test_every_comment_of_the_style_is_a_line_of_its_own():
    for line in (FOLDER.parent / "player.css").read_text(encoding="utf-8").splitlines():
        is_comment = line.strip().startswith("/*")
        assert ("/*" in line) == is_comment, line
        assert line.rstrip().endswith("*/") == is_comment, line


def test_stripping_takes_comments_and_indentation_and_leaves_every_text():
    source = '// what it is\n\nconst a = "  // no comment";\n  // why\n  const b = 1; // kept\n'
    assert stripped(source, "//") == 'const a = "  // no comment";\nconst b = 1; // kept'


@pytest.mark.parametrize("name", source_files())
def test_a_file_says_what_it_is_and_has_at_most_300_lines(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(lines) <= 300


@pytest.mark.parametrize("name", [name for name in source_files() if "/panel_" in name])
def test_a_panel_file_defines_one_panel_of_its_own_name(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.count("definePanel(") == 1
    assert f'name: "{Path(name).stem.removeprefix("panel_")}",' in text


@pytest.mark.parametrize(
    "word",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttp"],
)
def test_nothing_is_run_as_code_taken_as_markup_or_requested(word):
    assert word not in javascript()


def test_no_address_of_any_host_is_in_the_files():
    text = (javascript() + stylesheet()).replace(SVG_NAMESPACE, "")
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]{2,}|url\(|@import", text)


def test_the_browser_knows_the_same_tracks_as_python():
    assert vocabulary()["tracks"] == [
        {"name": s.name, "fields": list(s.fields), "defaults": list(s.defaults), "ramps": list(s.ramps)}
        for s in track.SPECS.values()
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("statuses", [status.name for status in SequenceStatus]),
        ("happenings", list(track.HAPPENINGS)),
        ("happening_columns", list(track.HAPPENING_COLUMNS)),
        ("actions", list(track.ACTIONS)),
        ("reasons", list(track.REASONS)),
        ("resources", list(track.RESOURCES)),
        ("decision_columns", list(track.DECISION_COLUMNS)),
        ("step_columns", list(track.STEP_COLUMNS)),
    ],
)
def test_the_browser_uses_the_same_words_as_python(name, expected):
    assert vocabulary()[name] == expected


def test_an_envelope_holds_the_options_and_then_the_runs():
    packed = envelope([b"one", b"three"], {"frame": "12.3"})
    (length,) = struct.unpack_from("<I", packed)
    assert json.loads(packed[4 : 4 + length]) == {"options": {"frame": "12.3"}, "lengths": [3, 5]}
    assert packed[4 + length :] == b"onethree"


@pytest.mark.parametrize("count", [0, 4])
def test_only_one_to_three_runs_are_shown(count):
    with pytest.raises(ValueError, match=f"1 to 3 runs at once, not {count}"):
        player.player([b""] * count, key="player")


def test_the_page_without_a_server_takes_no_title_for_markup():
    page = player_page([b"run"], title="<script>alert(1)</script>")
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
