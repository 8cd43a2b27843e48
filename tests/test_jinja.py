"""Templates from outside, in the sandbox."""

from __future__ import annotations

import pytest

from nodeattrs.core.budget import Budget
from nodeattrs.errors import TooMuch
from nodeattrs.formats.jinja import sandboxed

pytest.importorskip("jinja2")

GROWING = {
    "joined to itself": "{% set a = 'x' * 1000 %}" + "{% set a = a ~ a %}" * 40,
    "added to itself": "{% set a = 'x' * 1000 %}" + "{% set a = a + a %}" * 40,
    "a list added to itself": "{% set a = [1] * 1000 %}" + "{% set a = a + a %}" * 40,
    "a product": "{{ 'x' * 10000000000 }}",
    "a power": "{{ 10 ** 10000000000 }}",
    "a range": "{{ range(10000000000) | list }}",
    "a method with a width": "{{ 'a'.ljust(10000000000) }}",
    "a filter with a width": "{{ 'a' | center(10000000000) }}",
    "a width in a text": "{{ '%9999999999d' % 1 }}",
    "a width in a text of a filter": "{{ '%9999999999d' | format(1) }}",
    "a width in a text of a method": "{{ '{:9999999999}'.format(1) }}",
    "each sign replaced by many": "{{ ('a' * 9000000).replace('a', 'b' * 9000000) }}",
    "the same by a filter": "{{ ('a' * 9000000) | replace('a', 'b' * 9000000) }}",
}


class TestSandbox:
    @pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
    def test_a_short_template_takes_no_gigabyte(self, text):
        """
        It ends before the memory is spent.
        """
        with pytest.raises(TooMuch):
            sandboxed(Budget("t")).from_string(text).render()

    def test_what_is_meant_comes_out_as_ever(self):
        """
        Operators, methods and filters give what Jinja2's own do.
        """
        text = "{{ 'a' ~ 1 ~ x }}|{{ 'a' | center(5) }}|{{ 'aa' | replace('a', 'b') }}|{{ '%s-%03d' | format('x', 5) }}"
        text += "|{{ 1 + 2 }}|{{ [1] + [2] }}|{{ 'ab'.replace('a', 'c') }}|{{ '%s' % 3 }}|{{ '{}!'.format(x) }}"

        assert sandboxed(Budget("t")).from_string(text).render(x=2) == "a12|  a  |bb|x-005|3|[1, 2]|cb|3|2!"
