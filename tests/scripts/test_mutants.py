"""The mutants can be made of the program as it is now; `make mutants` says whether the tests notice them."""

import pytest

from scripts.mutants import MUTANTS, ROOT, Mutant, problem_of


def test_there_are_enough_of_them_and_none_twice() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_its_place_is_there_and_its_tests_too(mutant: Mutant) -> None:
    assert problem_of(mutant, ROOT / "agent_server") is None
    assert [test for test in mutant.tests if not (ROOT / test).exists()] == []
