from argus.generative.failures.tables.corpus import corpus


def test_the_index_adds_coverage_pieces_and_cut_answers(rows):
    found = corpus(
        rows(
            positives=[2, 2, 1, 1],
            hit_1=[1, 0, 0, 1],
            hit_k=[1, 1, 0, 1],
            answer_hit_1=[1, 0, 0, None],
            coverage=[1.0, 0.7, 0.5, 0.8],
            pieces=[1, 4, 4, None],
            pieces_word=["paul", "lin'an", "lin'an", None],
            cut_answer=["p1 + p2", None, None, None],
            positives_indexed=[2, 1, 0, 1],
        )
    )
    assert (found["coverage"]["n"], found["coverage"]["mean"]) == (4, 0.75)
    assert found["coverage"]["share_at_least_0.7"] == 0.75
    assert found["t12_coverage_deciles"]["not_applicable"].startswith("Only 4 questions")
    assert [row[:3] for row in found["pieces"]["rows"]] == [[1, 1, 1], [4, 2, 0]]
    assert found["most_split_words"]["rows"] == [["lin'an", 4, 2], ["paul", 1, 1]]
    # The fourth question has no answers: nothing of it can be cut.
    assert [row[:3] for row in found["cut_answers"]["rows"]] == [["cut", 1, 1], ["whole", 2, 0]]
    assert [row[:3] for row in found["positives_indexed"]["rows"]] == [
        ["all", 2, 1], ["some", 1, 0], ["none", 1, 0],
    ]  # fmt: skip


def test_without_the_index_every_table_names_the_option(rows):
    for table in corpus(rows(positives=[1], hit_1=[1], hit_k=[1], answer_hit_1=[1])).values():
        assert table == {"not_applicable": "This needs the index: --corpus-index."}
