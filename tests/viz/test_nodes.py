"""What is said of the radix tree: who left what is hit, which node goes and why, in the words of its tokens."""

import numpy as np

from tests.browser.radix_runs import forty_words, many_prefixes
from viz.player.nodes import inserters, node_text
from viz.player.sentences import sentence_text


def said() -> list[str]:
    trace = forty_words()
    return [text for event in range(trace.num_events + 1) if (text := sentence_text(trace, event))]


def test_a_hit_names_who_left_the_words_and_a_split_where_the_paths_part() -> None:
    told = said()
    assert "13 of 20 words are reused because chat 1 left them in the tree." in told
    assert "5 of 13 words are reused because chat 1 left them in the tree." in told
    assert "8 of 11 words are reused because few-shot 1 left them in the tree." in told
    assert [text for text in told if "split" in text] == [
        "A node is split after You are a kind tutor because another prompt goes on differently from there.",
        "A node is split after sea = mer ; sky = ciel ; because another prompt goes on differently from there.",
    ]


def test_an_eviction_names_the_words_that_go() -> None:
    (text,) = (text for text in said() if "evicted" in text)
    assert text.startswith("and who clears it the LRU rule is evicted because ")
    assert text.endswith("and it was unused for longest.")


def test_what_a_finished_request_computed_stays_in_the_tree() -> None:
    assert "chat 1 is finished after 1 token; what it computed stays in the tree." in said()


def test_a_node_has_the_words_of_its_moment() -> None:
    trace = forty_words()
    split = trace.parse_frame("4")
    assert node_text(trace, 1, trace.parse_frame("1")) == "You are a kind tutor what is a cache a small fast store"
    assert node_text(trace, 1, split) == "what is a cache a small fast store"
    assert node_text(trace, 99, split) == "?"


def test_tokens_without_words_are_numbers_and_an_unknown_node_has_no_inserter() -> None:
    trace = many_prefixes(40, 400)
    assert all(part.isdigit() or part == "•" for part in node_text(trace, 1, trace.num_events).split())
    assert inserters(trace, np.array([10_000]), np.array([trace.num_events])).tolist() == [-1]
