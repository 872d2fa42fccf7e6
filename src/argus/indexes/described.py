"""What index.json says of the encoder of an index; `argus.indexes.retriever` makes it again."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from argus.encoders import Encoder, EncoderConfig, as_config
from argus.indexes.header import EncoderSettings


def describe_encoder(encoder: Encoder | EncoderConfig | str) -> EncoderSettings:
    """Return what index.json says of an encoder, so that a later command can load it.

    No device (another machine has others), no user, password or query of an address. An encoder
    object cannot be described: whoever opens the index has to give it again.
    """
    config = as_config(encoder)
    if not isinstance(config, EncoderConfig):
        return {}
    address = urlsplit(config.base_url)
    host = address.netloc.rpartition("@")[2]
    options: EncoderSettings = {}
    if config.query_prompt is not None:
        options["query_prompt"] = config.query_prompt
    if config.document_prompt is not None:
        options["document_prompt"] = config.document_prompt
    if config.token_pooling is not None:
        options["token_pooling"] = config.token_pooling
    if config.revision is not None:
        options["revision"] = config.revision
    if config.trust_remote_code:
        options["trust_remote_code"] = True
    return {
        **options,
        "model": config.model,
        "precision": config.precision,
        "device": None,
        "base_url": urlunsplit((address.scheme, host, address.path, "", "")),
        "api_key_env": config.api_key_env,
        "batch_size": config.batch_size,
        "concurrency": config.concurrency,
    }
