"""Conversations, and chat templates that do with strings what published ones do."""

from __future__ import annotations

from typing import Any

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "  Be brief. "},
    {"role": "user", "content": "What is 1+1? 안녕\n"},
    {"role": "assistant", "content": "<think>\nsum\n</think>\n\n 2 ", "reasoning_content": "sum"},
    {"role": "user", "content": "And f(2)?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"x": "2 é"}}}],
    },
    {"role": "tool", "name": "f", "tool_call_id": "abcdefghi", "content": "4"},
    {"role": "assistant", "content": "4."},
]
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "description": "Doubles x.",
            "parameters": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
        },
    }
]
DOCUMENTS = [{"title": "Sums", "text": "1+1=2"}]

SHAPES = {
    "data": "{% for m in messages %}<|im|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}",
    "plus": "{% for m in messages %}{{ '<|im|>' + m.role + '\n' + m.content | trim + '<|end|>' }}{% endfor %}",
    "tilde": "{% for m in messages %}{{ bos_token ~ '<|im|>' ~ m.role ~ loop.index0 ~ m.content ~ none ~ '<|end|>' }}{% endfor %}",
    "role in the token": "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}",
    "thinking": (
        "{% for m in messages %}{% set c = m.content %}{% if '</think>' in c %}"
        "{% set r = c.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}"
        "{% set c = (c.split('</think>')|last).lstrip('\n') %}<think>{{ r }}</think>{% endif %}"
        "<|im|>{{ c }}<|end|>{% endfor %}"
    ),
    "slices": (
        "{% for m in messages %}{% if m.content[:2] == '  ' or m.content.startswith('<think>') %}{{ m.content[2:-1] }}"
        "{% else %}{{ m.content[::-1] }}{% endif %}<|end|>{% endfor %}"
    ),
    "namespace": (
        "{% set ns = namespace(text='', n=0) %}{% for m in messages %}{% set ns.text = ns.text + '<|im|>' + m.content %}"
        "{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.text + '<|end|>' }}{{ ns.n }}"
    ),
    "macro": (
        "{% macro show(m, end='<|end|>') %}<|im|>{{ m.content | upper }}{{ end }}{{ caller() if caller else '' }}{% endmacro %}"
        "{% for m in messages %}{{ show(m) }}{% call show(m, end='<|im|>') %}{{ m.role }}{% endcall %}{% endfor %}"
    ),
    "set block": (
        "{% for m in messages %}{% set block %}<|im|>{{ m.content }}{% endset %}{{ block | trim }}<|end|>"
        "{% filter trim %} {{ m.content }}<|im|> {% endfilter %}{% endfor %}"
    ),
    "lists": (
        "{% set parts = [] %}{% for m in messages %}{% set parts = parts + ['<|im|>', m.content] %}{{ parts | join('<|end|>') }}"
        "{{ ''.join(parts) }}{{ parts | map('trim') | join }}{{ parts | first }}{{ m.content | list | last }}{% endfor %}"
    ),
    "replace": (
        "{% for m in messages %}{{ ('<|im|>@<|end|>').replace('@', m.content) }}{{ m.content.replace(' ', '<|im|>') }}"
        "{{ m.content | replace('\n', '<|end|>') | capitalize }}{{ m.content.title() }}{% endfor %}"
    ),
    "lines": (
        "{% for m in messages %}{% for line in m.content.splitlines() %}<|im|>{{ line }}{% endfor %}"
        "{% for word in m.content.split() %}{{ word }}<|end|>{% endfor %}{{ m.content.partition(' ')[2] }}{% endfor %}"
    ),
    "tools": (
        "{% for t in tools %}<|im|>{{ t | tojson(indent=2) }}{{ t.function.name }}{{ t.function.parameters }}<|end|>{% endfor %}"
        "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ '<|im|>' + c.function.arguments | tojson + c.id }}"
        "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}{% endfor %}{{ m.content }}<|end|>{% endfor %}"
    ),
    "documents": "{% for d in documents %}<|im|>{{ d.title }}{{ d['text'] }}{% endfor %}{{ messages[0].content }}<|end|>",
    "loop controls": (
        "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% elif loop.last %}{% break %}{% endif %}"
        "<|im|>{{ m.content if m.content is string else raise_exception('no text') }}{{ eos_token }}{% endfor %}"
    ),
    "generation": (
        "{% for m in messages %}{% if m.role == 'assistant' %}<|im|>{% generation %}{{ m.content }}<|end|>{% endgeneration %}"
        "{% else %}<|im|>{{ m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|im|>{% endif %}"
    ),
    "conditions": (
        "{{ messages[0].content ~ '<|end|>' if messages[0].role == 'system' else '<|im|>' }}{{ messages | length }}"
        "{{ (messages | selectattr('role', 'equalto', 'user') | list)[-1].content }}{{ messages[1].missing }}"
        "{{ messages[1].content | default('<|im|>', true) }}{{ {'<|end|>': 1} | list | first }}"
    ),
}
SPECIAL_TOKENS = {"bos_token": "<|bos|>", "eos_token": "<|end|>", "pad_token": None}
