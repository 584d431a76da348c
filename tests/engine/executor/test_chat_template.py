"""Chat templates, the friendly ones and those that try to get out."""

import pytest

from engine.executor.chat_template import ChatTemplate
from engine.executor.model_error import ModelError

TURNS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why {{ 1 + 1 }}?"}]


def test_a_template_sees_messages_and_tokens_and_texts_are_not_templates() -> None:
    source = "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {{ m.content }}{{ eos_token }}{% endfor %}"
    assert ChatTemplate(source, bos="<s>", eos="</s>").render(TURNS) == (
        "<s>system: Be brief.</s>user: Why {{ 1 + 1 }}?</s>"
    )


def test_without_a_template_the_texts_follow_each_other() -> None:
    assert ChatTemplate().render(TURNS) == "Be brief.\nWhy {{ 1 + 1 }}?"


def test_a_template_can_refuse_a_conversation() -> None:
    with pytest.raises(ModelError, match="cannot write this conversation: no system turn"):
        ChatTemplate("{{ raise_exception('no system turn') }}").render(TURNS)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'role': 'x'}) }}",
        "{% for i in range(10000000) %}x{% endfor %}",
        "{{ 'x' * 10000000000 }}",
        "{{ 99999 ** 99999999 }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ nothing.at.all }}",
        "{% include '/etc/passwd' %}",
    ],
)
def test_a_template_that_reaches_out_is_stopped_with_a_sentence(source) -> None:
    with pytest.raises(ModelError, match="cannot write this conversation"):
        ChatTemplate(source).render(TURNS)


@pytest.mark.parametrize("source", ["{% for %}", "{{", "{% endif %}", "x" * 70_000])
def test_a_template_that_is_none_is_refused_when_the_model_is_opened(source) -> None:
    with pytest.raises(ModelError, match="chat template"):
        ChatTemplate(source)
