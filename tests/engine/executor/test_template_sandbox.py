"""Templates as models have them, written the same as without a meter; and those that would never end or fill the memory."""

import time
import tracemalloc

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.executor.chat_template import ChatTemplate
from engine.executor.model_error import ModelError

TURNS = [
    {"role": "system", "content": " Be brief.\n"},
    {"role": "user", "content": "Why <b> & 'c' {{ 1 }}?"},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nBecause."},
    {"role": "user", "content": "Ah, ünd 🙂?"},
]
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + "
    "message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA3 = """{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" + "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {%- for t in tools | sort %}{{- t | tojson(indent=4) | indent(2) }}{%- endfor %}
{%- endif %}
{{- system_message }}{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("one tool call at a time") }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""
MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}{%- set loop_messages = messages[1:] %}
{%- else %}{%- set loop_messages = messages %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{- raise_exception("roles alternate") }}{%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}{{- "[INST]" + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}{{- "[INST]" ~ message["content"] ~ "[/INST]" }}{%- endif %}
    {%- else %}{{- " " + message["content"]|trim + eos_token}}{%- endif %}
{%- endfor %}{{ user_messages | length }}
"""
QWEN = """{%- macro turn(role, text) %}{{- '<|im_start|>' ~ role ~ '\\n' ~ text ~ '<|im_end|>\\n' }}{%- endmacro %}
{%- set ns = namespace(last=messages|length - 1, found=false) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if not ns.found and message.role == "user" and message.content is string and not(
        message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.found = true %}{%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- if message.role == "assistant" and '</think>' in content and loop.index0 < ns.last %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- turn(message.role, content.replace('Ah', 'Oh') | upper) }}
{%- endfor %}
{%- for key, value in messages[0].items() %}{{- key }}={{ [value, 'x'] | join(', ') }};{% endfor %}
{{- ['system', 'user', 'x'] | reject('equalto', 'x') | map('capitalize') | join('/') }}{{ range(3) | list | length }}
{{- '<|im_start|>assistant\\n' if add_generation_prompt else '' }}"""


@pytest.mark.parametrize("source", [SMOLLM2, LLAMA3, MISTRAL, QWEN], ids=["smollm2", "llama3", "mistral", "qwen"])
@pytest.mark.parametrize("turns", [TURNS, TURNS[1:], TURNS[1:2]])
def test_templates_of_models_write_what_jinja_alone_would(source: str, turns: list[dict[str, str]]) -> None:
    plain = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    expected = plain.from_string(source).render(
        messages=turns, add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
    )
    assert ChatTemplate(source, bos="<s>", eos="</s>").render(turns) == expected
    assert turns[-1]["content"][-3:] in expected


def test_json_is_not_written_for_a_web_page() -> None:
    assert ChatTemplate("{{ messages[1] | tojson }}").render(TURNS) == (
        '{"role": "user", "content": "Why <b> & \'c\' {{ 1 }}?"}'
    )


def test_a_long_prompt_is_written() -> None:
    long = "word " * 1_000_000
    text = ChatTemplate(SMOLLM2).render([{"role": "system", "content": "s"}, {"role": "user", "content": long}])
    assert text.count("word ") == 1_000_000


def test_a_long_conversation_is_written() -> None:
    turns = [{"role": ("user", "assistant")[number % 2], "content": "Hello you"} for number in range(4_000)]
    assert ChatTemplate(SMOLLM2).render(turns).count("Hello you") == 4_000


MANY = "{% for i in range(99999) %}"
HOSTILE = {
    "a wide text": "{{ ('a'|center(100000000)) }}",
    "a wide text by a method": "{{ 'a'.center(100000000) }}{{ 'a'.ljust(10**9) }}{{ 'a'.zfill(10**9) }}",
    "a wide number": "{{ '%0999999999d' | format(1) }}",
    "a wide format": "{{ '{:0999999999d}'.format(1) }}",
    "a wide format by a map": "{{ ['{:0999999999d}'] | map('format', 1) | join }}",
    "tabs": "{{ '\t'.expandtabs(10**9) }}",
    "filler": "{{ lipsum(n=20000) }}",
    "nested ranges": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}x",
    "a wide range": "{{ range(10**12) | list }}",
    "a list of a list": "{{ range(99999) | list | map('string') | list | tojson }}",
    "doubled text": "{% set n = namespace(x='ab') %}" + MANY + "{% set n.x = n.x + n.x %}{% endfor %}",
    "doubled by a tilde": "{% set n = namespace(x='ab') %}" + MANY + "{% set n.x = n.x ~ n.x %}{% endfor %}",
    "doubled by a block": "{% set n = namespace(x='ab') %}" + MANY + "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
    "doubled by replace": "{% set n = namespace(x='ab') %}" + MANY + "{% set n.x = n.x|replace('a', n.x) %}{% endfor %}",
    "doubled by join": "{% set n = namespace(x='ab') %}" + MANY + "{% set n.x = n.x.join([n.x, n.x]) %}{% endfor %}",
    "doubled list": "{% set n = namespace(x=[1]) %}" + MANY + "{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | tojson }}",
    "doubled added list": "{% set n = namespace(x=[1]) %}" + MANY + "{% set n.x = n.x + n.x %}{% endfor %}",
    "doubled dict": "{% set n = namespace(x={}) %}" + MANY + "{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}",
    "doubled arguments": "{% set n = namespace(x=[1]) %}{% macro m() %}{% set n.x = varargs %}{% endmacro %}"
    + MANY
    + "{{ m(n.x, n.x) }}{% endfor %}",
    "kept slices": "{% set n = namespace(x=[]) %}" + MANY + "{% set n.x = n.x + [messages[0].content[1:]] %}{% endfor %}",
    "long output": "{% for i in range(99999) %}{{ messages[0].content }}{% endfor %}",
    "a tree of macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
    "a macro without end": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a chain of objects": "{% set a = namespace() %}{% set b = namespace(x=[a, a]) %}{{ [b, b] }}",
    "an object in a text": "{% set a = namespace() %}{{ 'x' ~ a }}",
    "an object in upper case": "{% set a = namespace() %}{{ [a] | upper }}",
    "strip by a long text": "{% set t = 'b' %}{{ messages[0].content.strip(messages[0].content + 'a') }}",
    "searches": MANY + "{% if (messages[0].content + 'a').count('a' * 3) %}{% endif %}{% endfor %}",
    "comparisons": "{% set a, b = messages[0].content + 'a', messages[0].content + 'b' %}"
    + MANY
    + "{% if a == b or a in b or b > a %}{% endif %}{% endfor %}",
    "a great power": "{{ 1000000 ** 1000000 }}",
    "a rounded number": "{{ 1 | round(10**9, 'ceil') }}",
    "html": "{{ '<' * 3 }}{{ '<' | e }}",
}  # fmt: skip


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_template_without_bounds_is_stopped(source: str) -> None:
    """Soon, with a sentence on one line, and before it has taken much memory."""
    turns = [{"role": "user", "content": "a" * 20_000}]
    tracemalloc.start()
    began = time.thread_time()
    with pytest.raises(ModelError) as problem:
        ChatTemplate(source).render(turns)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "\n" not in str(problem.value) and "chat template" in str(problem.value)
    assert most < 100 << 20
    assert time.thread_time() - began < 20


@pytest.mark.parametrize(
    "source",
    ["{% for m in messages recursive %}{{ loop(messages) }}{% endfor %}", "{% autoescape true %}x{% endautoescape %}"],
)
def test_what_no_chat_template_needs_is_not_read(source: str) -> None:
    with pytest.raises(ModelError, match=r"cannot be read: .* not known"):
        ChatTemplate(source)


def test_the_meter_starts_anew_for_every_conversation() -> None:
    template = ChatTemplate("{% for i in range(60000) %}{% endfor %}{{ messages[0].content }}")
    assert [template.render(TURNS[1:2]) for _ in range(3)] == [TURNS[1]["content"]] * 3
