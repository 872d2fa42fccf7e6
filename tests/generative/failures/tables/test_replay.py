from argus.generative.failures.tables.replay import replay


def test_pruning_and_ranks_are_told_over_replayed_questions(rows):
    found = replay(
        rows(
            positives=[1] * 5,
            pruned=[3, 0, 1, 2, None],
            pruned_at=[1, None, 2, 1, None],
            pruned_kept_by=[30, None, None, 60, None],
            rank_now=[1, 12, None, 2, None],
            rank_unpruned=[1, 1, 5, 1, None],
            rank_without_titles=[None, None, 1, 1, None],
        )
    )
    assert found["pruned"]["n"] == 4
    assert (found["pruned"]["questions"], found["pruned"]["share"]) == (3, 0.75)
    assert found["pruned"]["mean"] == 1.5
    assert found["pruned_at"]["rows"] == [[1, 2], [2, 1]]
    # The third question's n-gram is not written by any beam that was tried.
    assert found["pruned_kept_by"]["rows"] == [[30, 1], [60, 1], [None, 1]]
    made = {row[0]: (row[1], row[4], row[7], row[8]) for row in found["replay_ranks"]["rows"]}
    assert made == {  # first, among the first 10, ranked at all, their median
        "now": (0.25, 0.5, 3, 2),
        "unpruned": (0.75, 1.0, 4, 1),
        "without_titles": (0.5, 0.5, 2, 1),
    }


def test_without_a_model_every_table_names_the_options(rows):
    for table in replay(rows(positives=[1])).values():
        assert table["not_applicable"] == "This needs index and model: --corpus-index and --model."


def test_a_search_that_lost_nothing_says_so(rows):
    found = replay(rows(positives=[1], pruned=[0], rank_now=[1]))
    assert found["pruned"]["share"] == 0
    assert found["pruned_at"]["not_applicable"].startswith("The search wrote all n-grams")
