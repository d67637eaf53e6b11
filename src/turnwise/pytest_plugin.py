"""A pytest plug-in: the rules of a gate as tests. It does nothing unless `--turnwise-gate` or the fixture asks for it.

`pytest --turnwise-gate gate.yaml --turnwise-run latest --turnwise-baseline version:1` adds a test for each rule. In a
test, the fixture `turnwise_gate` checks rules that are given there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from turnwise.comparison.gate import Gated, RuleOutcome
    from turnwise.comparison.rules import Rule

Rules = Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | Path
"""A rule, a list of rules, or the file they are in."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; without them nothing else happens."""
    group = parser.getgroup("turnwise", "turnwise: gates on evaluation runs")
    group.addoption("--turnwise-gate", metavar="FILE", help="Add a test for each rule of this file (docs/gate.md).")
    group.addoption("--turnwise-run", metavar="RUN", default="latest", help="The run to check (default: latest).")
    group.addoption("--turnwise-baseline", metavar="A", help="What max_drop and max_rise compare with.")
    group.addoption("--turnwise-db", metavar="PATH|URL", help="The database (default: the user's own).")
    group.addoption("--turnwise-allow-different", action="store_true", help="As --allow-different of turnwise gate.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The file of rules, where it is among what pytest looks at."""
    asked = parent.config.getoption("--turnwise-gate")
    if asked and Path(asked).resolve() == file_path.resolve():
        return GateFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """The rules, where pytest did not come across their file; before tests are chosen by -k and -m."""
    asked = config.getoption("--turnwise-gate")
    if asked and not any(isinstance(item, GateItem) for item in items):
        items.extend(GateFile.from_parent(session, path=Path(asked).resolve()).collect())


class GateFile(pytest.File):
    """A file of rules."""

    def collect(self) -> Iterable[GateItem]:
        """A test for each rule; what is wrong with the file is an error of the collection."""
        from turnwise.comparison.rules import read_rules
        from turnwise.kernel.errors import TurnwiseError

        try:
            rules = read_rules(self.path)
        except TurnwiseError as error:
            raise pytest.UsageError(error.message) from error
        names: dict[str, int] = {}
        for rule in rules:
            names[rule.name] = names.get(rule.name, 0) + 1
            again = f" #{names[rule.name]}" if names[rule.name] > 1 else ""
            yield GateItem.from_parent(self, name=f"{rule.name}{again}", rule=rule)


class GateItem(pytest.Item):
    """One rule."""

    def __init__(self, *, rule: Rule, **rest: Any) -> None:
        super().__init__(**rest)
        self.rule = rule

    def runtest(self) -> None:
        """Check the rule."""
        (outcome,) = _checked([self.rule], self.config).outcomes
        self.add_report_section("call", "turnwise", "\n".join(check.message for check in outcome.checks))
        if not outcome.passed:
            raise NotMet(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The rule and the numbers instead of a traceback."""
        from turnwise.kernel.errors import TurnwiseError

        if isinstance(excinfo.value, NotMet):
            return str(excinfo.value)
        if isinstance(excinfo.value, TurnwiseError):
            return excinfo.value.message
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the rule is written."""
        # Not the end of the node id: pytest would write the points of its numbers as colons.
        return self.path, None, f"rule {self.name}"


class NotMet(AssertionError):
    """A rule that is not met."""

    def __init__(self, outcome: RuleOutcome) -> None:
        super().__init__(f"{outcome.rule.name}\n  {outcome.message}")


@pytest.fixture
def turnwise_gate(pytestconfig: pytest.Config) -> Callable[..., Gated]:
    """Check rules in a test: `turnwise_gate({"metric": "joint_goal_accuracy", "min": 0.5}, run="latest")`.

    Takes a rule, a list of them or a file; `run`, `baseline`, `db` and `allow_different` are those of the command line
    where they are not given. Fails with the rule and the numbers; returns what was found.
    """
    return partial(_gate, pytestconfig)


def _gate(config: pytest.Config, rules: Rules, **changes: Any) -> Gated:
    __tracebackhide__ = True
    from turnwise.comparison.rules import make_rules, read_rules

    wanted = read_rules(Path(rules)) if isinstance(rules, str | Path) else make_rules(rules)
    found = _checked(wanted, config, **changes)
    wrong = [outcome for outcome in found.outcomes if not outcome.passed]
    if wrong:
        pytest.fail("\n".join(str(NotMet(outcome)) for outcome in wrong), pytrace=False)
    return found


def _checked(
    rules: Sequence[Rule],
    config: pytest.Config,
    *,
    run: str | None = None,
    baseline: str | None = None,
    db: str | None = None,
    allow_different: bool | None = None,
) -> Gated:
    from turnwise.comparison.gate import check_gate
    from turnwise.comparison.selectors import choose, choose_both, one_room
    from turnwise.rooms import register_metrics
    from turnwise.store.store import Store

    register_metrics()
    run = run or config.getoption("--turnwise-run")
    baseline = baseline or config.getoption("--turnwise-baseline")
    different = config.getoption("--turnwise-allow-different") if allow_different is None else allow_different
    store = Store(db or config.getoption("--turnwise-db"))
    try:
        if baseline is None:
            own, other = one_room(choose(store, run), run), None
        else:
            other, own = choose_both(store, baseline, run)
        return check_gate(rules, own, other, texts=(run, baseline or ""), allow_different=different)
    finally:
        store.close()
