"""Settings of a language model that writes syntheses."""

import pytest

from argus.llm import ChatConfig
from argus.remedies.config import SynthesizeConfig
from tests.support.synthesizing import answering, good


@pytest.fixture
def config(endpoint):
    """Settings for an endpoint that does as it is told; retries wait next to nothing."""
    endpoint.behave = answering(good)

    def make(**options):
        options = {"base_url": endpoint.url, "model": "m", "backoff_s": 0.001} | options
        return SynthesizeConfig(model=ChatConfig(**options))

    return make
