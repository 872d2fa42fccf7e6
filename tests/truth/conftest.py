"""What the tests of a folder's neighbours run commands with."""

from tests.cli.conftest import argus as argus
