"""A service over a small index and the records of its documents."""

import shutil
from types import SimpleNamespace

import pytest

from argus.corpora.opening import read_corpus
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.runs.test_record import expose
from tests.service.client import Client
from tests.support.superseding import story_source, write_story


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """A folder of results."""
    folder = tmp_path_factory.mktemp("work") / "report"
    expose(folder)
    return folder


@pytest.fixture(scope="session")
def story(tmp_path_factory):
    """A folder with records, rules and an index of the records' texts."""
    folder = write_story(tmp_path_factory.mktemp("service") / "story")
    documents = read_corpus(folder / "records.jsonl")
    build_index(documents, out=folder / "index", encoder=EncoderConfig())
    return folder


@pytest.fixture(scope="session")
def served(story, tmp_path_factory):
    """A service that has its encoder loaded; of its own records, which tests may add to."""
    folder = tmp_path_factory.mktemp("served") / "story"
    shutil.copytree(story, folder)
    place = open_workplace([folder / "index"], authority=story_source(folder))
    app = create_app(place, ServeConfig())
    with Client(app) as client:
        yield SimpleNamespace(client=client, folder=folder, service=app.state.service, app=app)


@pytest.fixture
def client(served):
    """The client of `served`, as a program: without cookies."""
    served.client.cookies.clear()
    return served.client
