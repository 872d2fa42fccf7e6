"""A machine with round numbers."""

from argus.planning import Hardware

MACHINE = Hardware(
    name="paper", cores=2, memory_bytes=24 << 30, encoder="e", encoder_parameters=10,
    encoder_window=256, start_s=5, encode_s=1e-3, multiply_s=1e-11, count_s=1e-10,
    partition_s=1e-9, edge_s=1e-7, pair_s=1e-6, entity_s=1e-4, number_s=1e-7,
    wikipedia_byte_s=1e-6, wikidata_byte_s=2e-6, align_s=1e-5, words_s=1e-6, base_bytes=10**9,
    edge_bytes=200, entity_bytes=5000, pair_bytes=300, number_bytes=12, word_bytes=60,
    kb_entity_bytes=400, kb_pair_bytes=9, stored_word_bytes=6, stored_entity_bytes=150,
    stored_pair_bytes=10, report_bytes=10**6, price_per_hour=3.6,
)  # fmt: skip
