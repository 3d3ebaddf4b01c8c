"""Kernels: plain Python while there is little to do, machine code from then on, and never another result."""

import numpy as np
import pytest

from incrowd.trees import compiled as room
from incrowd.trees.compiled import LITTLE, PATIENCE, Kernel, compiled


@compiled
def _half(number):
    return number / 2


@compiled
def _halves(numbers, pairs):
    total = 0.0
    for number in numbers:
        total += _half(number)
    return total + len(pairs[0])


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Kernels that were never compiled, in a process that has run none."""
    monkeypatch.setattr(Kernel, "spent", 0.0)
    for kernel in (_half, _halves):
        vars(kernel).pop("machine_code", None)


def is_compiled_for(size, pairs=0):
    assert _halves(np.ones(size), (np.zeros(pairs),)) == size / 2 + pairs
    return "machine_code" in vars(_halves)


def test_a_little_is_done_without_numba_and_the_kernels_called_are_plain_too():
    assert not is_compiled_for(3)
    assert "machine_code" not in vars(_half)
    assert 0 < Kernel.spent < PATIENCE


def test_many_elements_are_compiled_for_at_once():
    assert is_compiled_for(LITTLE + 1)
    assert Kernel.spent == 0


def test_elements_in_tuples_count():
    assert is_compiled_for(1, LITTLE)


def test_what_is_compiled_stays_so():
    is_compiled_for(LITTLE + 1)
    is_compiled_for(3)
    assert Kernel.spent == 0


def test_much_that_was_little_each_time_is_compiled_for_in_the_end():
    is_compiled_for(3)
    Kernel.spent = 2 * PATIENCE
    assert is_compiled_for(3)


def test_after_an_error_kernels_are_chosen_anew():
    with pytest.raises(TypeError):
        _half("text")
    assert not room._THREAD.plain


def test_a_kernel_keeps_the_name_and_the_words_of_its_function():
    def named():
        """Words."""

    kernel = compiled(named)
    assert (vars(kernel)["__name__"], kernel.__doc__) == ("named", "Words.")
