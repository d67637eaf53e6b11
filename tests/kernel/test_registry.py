"""The registry: names without imports, one metric per name, clear words when a plug-in is broken."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import ClassVar

import pytest

from turnwise.kernel import registry as module
from turnwise.kernel.derived import Derived, Input
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Metric, MetricSpec
from turnwise.kernel.registry import ENTRY_POINT_GROUP, BrokenPlugin, DuplicateMetric, Registry


def spec(name: str, room: str = "toys") -> MetricSpec:
    return MetricSpec(room=room, name=name, version=1, question="?", unit="item")


class Height(Metric):
    spec: ClassVar[MetricSpec] = spec("height")


class OtherHeight(Metric):
    spec: ClassVar[MetricSpec] = spec("height")


class WithoutSpec(Metric):
    pass


HERE = __name__
double = Derived(spec("double"), (Input("height"),), lambda x: 2 * x["height"])


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of its own, blind to whatever is installed."""
    monkeypatch.setattr(module, "entry_points", lambda group: EntryPoints())
    return Registry()


def with_plugins(monkeypatch: pytest.MonkeyPatch, **plugins: str) -> None:
    """Pretend that packages brought these entry points (`__` stands for a slash)."""
    found = EntryPoints(EntryPoint(name.replace("__", "/"), path, ENTRY_POINT_GROUP) for name, path in plugins.items())
    monkeypatch.setattr(module, "entry_points", lambda group: found.select(group=group))


# --- lazily -------------------------------------------------------------------------------------------------


def test_listing_imports_nothing(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lazy_metric_module.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.add_lazy("toys", {"width": "lazy_metric_module:Width", "depth": "no.such.module:Depth"})
    assert registry.names() == ["toys/width", "toys/depth"]
    assert "lazy_metric_module" not in sys.modules


def test_a_metric_is_imported_when_it_is_asked_for(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": f"{HERE}:Height"})
    assert registry.get("toys/height") is Height
    assert registry.get("toys/height") is Height


def test_names_come_in_the_order_of_registration_and_by_room(registry: Registry) -> None:
    registry.add_lazy("toys", {"b": "m:B", "a": "m:A"})
    registry.add_lazy("tools", {"c": "m:C"})
    registry.add_lazy("toys_2", {"d": "m:D"})
    assert registry.names() == ["toys/b", "toys/a", "tools/c", "toys_2/d"]
    assert registry.names("toys") == ["toys/b", "toys/a"]
    assert registry.names("nobody") == []


def test_the_rooms_can_be_listed_without_anything_heavy() -> None:
    code = (
        "import json, sys\n"
        "from turnwise.kernel.registry import REGISTRY\n"
        "from turnwise.rooms import register_metrics\n"
        "register_metrics()\n"
        "print(json.dumps([REGISTRY.names(), sorted(sys.modules)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    names, modules = json.loads(done.stdout)
    assert "dialogue/joint_goal_accuracy" in names
    assert "turnwise.dialogue.metrics.joint_goal_accuracy" not in modules
    heavy = {"torch", "scipy", "sqlalchemy", "alembic", "pandas", "matplotlib", "transformers"}
    assert heavy.isdisjoint(modules), heavy & set(modules)


# --- names --------------------------------------------------------------------------------------------------


def test_the_decorator_registers_and_hands_the_class_back(registry: Registry) -> None:
    assert registry.register(Height) is Height
    assert registry.get("toys/height") is Height


def test_a_derived_metric_is_registered_like_a_class(registry: Registry) -> None:
    assert registry.register(double) is double
    assert registry.register(double) is double
    assert registry.get("toys/double") is double


def test_two_metrics_cannot_have_one_name(registry: Registry) -> None:
    registry.register(Height)
    with pytest.raises(DuplicateMetric, match="two metrics are called toys/height") as caught:
        registry.register(OtherHeight)
    assert caught.value.found == f"{HERE}:Height and {HERE}:OtherHeight"
    assert registry.get("toys/height") is Height


def test_a_table_and_a_class_cannot_have_one_name(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": "elsewhere:Height"})
    with pytest.raises(DuplicateMetric):
        registry.register(Height)


def test_two_derived_metrics_cannot_have_one_name(registry: Registry) -> None:
    registry.register(double)
    with pytest.raises(DuplicateMetric):
        registry.register(Derived(spec("double"), (Input("height"),), lambda x: 3 * x["height"]))


def test_the_same_metric_may_be_registered_twice(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": f"{HERE}:Height"})
    registry.add_lazy("toys", {"height": f"{HERE}:Height"})
    registry.register(Height)
    assert registry.names() == ["toys/height"]


def test_the_same_name_in_two_rooms_is_fine(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": "m:A"})
    registry.add_lazy("tools", {"height": "m:B"})
    assert registry.names() == ["toys/height", "tools/height"]


def test_a_wrong_name_is_answered_with_the_right_one(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": "m:A", "width": "m:B"})
    with pytest.raises(UsageError, match="there is no metric 'hight' in the room 'toys'") as caught:
        registry.get("toys/hight")
    assert caught.value.expected == "height, width"
    assert caught.value.remedy is not None
    assert "did you mean height" in caught.value.remedy


def test_a_name_far_from_all_others_is_answered_with_where_to_look(registry: Registry) -> None:
    registry.add_lazy("toys", {"height": "m:A"})
    with pytest.raises(UsageError) as caught:
        registry.get("toys/qqqq")
    assert caught.value.remedy == "turnwise metrics --room toys lists them"
    with pytest.raises(UsageError) as caught:
        registry.get("nobody/height")
    assert caught.value.expected == "no metric: the room has none"


# --- plug-ins -----------------------------------------------------------------------------------------------


def test_a_plugin_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with_plugins(monkeypatch, toys__height=f"{HERE}:Height")
    registry = Registry()
    assert registry.names("toys") == ["toys/height"]
    assert registry.get("toys/height") is Height


def test_a_plugin_may_not_take_a_name_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with_plugins(monkeypatch, toys__height="elsewhere:Height")
    registry = Registry()
    registry.add_lazy("toys", {"height": f"{HERE}:Height"})
    with pytest.raises(DuplicateMetric, match="toys/height") as caught:
        registry.names()
    assert caught.value.found == f"{HERE}:Height and elsewhere:Height"
    assert "uninstall" in (caught.value.remedy or "")


@pytest.mark.parametrize("name", ["height", "toys__", "__height"])
def test_a_plugin_must_name_its_room(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with_plugins(monkeypatch, **{name: f"{HERE}:Height"})
    with pytest.raises(BrokenPlugin, match="registers a metric as"):
        Registry().names()


def test_a_wrong_plugin_is_reported_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a caller that goes on after the first error works with half of the plug-ins and no word about it."""
    with_plugins(monkeypatch, nameless=f"{HERE}:Height", toys__height=f"{HERE}:Height")
    registry = Registry()
    for _ in range(2):
        with pytest.raises(BrokenPlugin):
            registry.names()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("no_such_package.metrics:Height", "No module named 'no_such_package'"),
        (f"{HERE}:Missing", "has no attribute 'Missing'"),
        (HERE, ""),
        (f"{HERE}:HERE", HERE),
        (f"{HERE}:double", "toys/double"),
        (f"{HERE}:WithoutSpec", ""),
    ],
    ids=["no module", "no attribute", "no class named", "no metric", "another metric", "no spec"],
)
def test_a_path_that_does_not_lead_to_the_metric(registry: Registry, path: str, found: str) -> None:
    registry.add_lazy("toys", {"height": path}, origin="toy-metrics")
    with pytest.raises(BrokenPlugin, match="toys/height") as caught:
        registry.get("toys/height")
    assert found in (caught.value.found or "")
    assert "toy-metrics" in caught.value.message


@pytest.mark.parametrize("fault", ["1 / 0", "raise RuntimeError('no licence')", "def f(:"])
def test_whatever_an_import_raises_the_plugin_is_named(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    (tmp_path / "faulty_plugin_module.py").write_text(fault + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.add_lazy("toys", {"height": "faulty_plugin_module:Height"}, origin="toy-metrics")
    with pytest.raises(BrokenPlugin, match="toys/height") as caught:
        registry.get("toys/height")
    assert "toy-metrics" in caught.value.message


def test_a_broken_metric_does_not_hide_the_others(registry: Registry) -> None:
    registry.add_lazy("toys", {"broken": "no_such_package:X", "height": f"{HERE}:Height"})
    with pytest.raises(BrokenPlugin):
        registry.get("toys/broken")
    assert registry.names() == ["toys/broken", "toys/height"]
    assert registry.get("toys/height") is Height
