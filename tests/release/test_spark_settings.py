"""Has a Spark session of a release the settings that it needs, whatever else asks for others? Spark is a stub here."""

# ruff: noqa: N802 - names of pyspark
from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from statpriv.errors import TableError
from statpriv.releasing.tables.protocol import Refusals

NAME = "statpriv.releasing.tables.spark"


class StubSession:
    """A session whose application has the settings of its builder, unless something stronger sets them."""

    stronger: dict[str, str]
    stopped = 0
    environment = None

    def __init__(self, settings):
        self.settings = {**settings, **StubSession.stronger}
        self.sparkContext = SimpleNamespace(getConf=lambda: self.settings)
        self.conf = SimpleNamespace(get=lambda *_: None, set=lambda *_: None)

    @staticmethod
    def getActiveSession():
        return None

    def newSession(self):
        return self

    def stop(self):
        StubSession.stopped += 1


class StubBuilder:
    def __init__(self):
        self.settings = {}

    def appName(self, _name):
        return self

    def config(self, name, value):
        self.settings[name] = value
        return self

    def getOrCreate(self):
        StubSession.environment = os.environ.get("SPARK_LOCAL_DIRS")
        return StubSession(self.settings)


@pytest.fixture
def spark(monkeypatch):
    """The engine's module, over the stub."""
    modules = {name: ModuleType(name) for name in ("py4j", "py4j.protocol", "pyspark", "pyspark.errors", "pyspark.sql")}
    modules["py4j.protocol"].Py4JError = type("Py4JError", (Exception,), {})
    modules["pyspark.errors"].PySparkException = type("PySparkException", (Exception,), {})
    modules["pyspark.sql"].DataFrame = type("DataFrame", (), {})
    modules["pyspark.sql"].SparkSession = StubSession
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    before = sys.modules.pop(NAME, None)
    monkeypatch.setattr(StubSession, "builder", property(lambda _: None), raising=False)
    StubSession.builder = StubBuilder()
    StubSession.stronger, StubSession.stopped = {}, 0
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME)
    if before is not None:
        sys.modules[NAME] = before


def started(spark):
    with spark._session(Refusals("people.csv"), debug=True) as session:
        return dict(session.settings)


def test_a_session_of_its_own_writes_no_event_log_and_encrypts(spark, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/somewhere/else")
    settings = started(spark)
    assert settings["spark.eventLog.enabled"] == "false"
    assert settings["spark.io.encryption.enabled"] == "true"
    assert StubSession.environment == settings["spark.local.dir"]
    assert os.environ["SPARK_LOCAL_DIRS"] == "/somewhere/else"
    assert not os.path.exists(settings["spark.local.dir"])  # noqa: PTH110 - a name that Spark was given
    assert StubSession.stopped == 1


@pytest.mark.parametrize(
    ("name", "value"), [("spark.eventLog.enabled", "true"), ("spark.io.encryption.enabled", "false")]
)
def test_submitted_arguments_that_win_are_refused(spark, name, value):
    StubSession.stronger = {name: value}
    with pytest.raises(TableError, match=f"without the settings that a release needs: .*{name} = "):
        started(spark)
    assert StubSession.stopped == 1


def test_an_application_of_somebody_else_is_neither_used_nor_stopped(spark):
    StubSession.stronger = {"spark.local.dir": "/tmp/of-somebody-else"}  # noqa: S108 - no file
    with pytest.raises(TableError, match="a Spark application without an active session is running"):
        started(spark)
    assert StubSession.stopped == 0
