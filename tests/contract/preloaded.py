"""The default encoder, read as this is imported: what the fork server makes begins with it."""

import pytest

from argus.encoders import EncoderConfig, load_encoder
from tests.support import vectors

vectors.read_once(pytest.MonkeyPatch())
load_encoder(EncoderConfig())
