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
            title_ngrams_all=[1, 2, 0, 1, 3],
            query_ngrams_all=[0] * 5,
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
        "without_unigrams": (0.0, 0.0, 0, None),
    }


def test_a_variant_without_ranks_is_shown_where_it_has_ngrams(rows):
    columns = {"positives": [1], "pruned": [0], "rank_now": [1], "title_ngrams_all": [4]}
    columns |= {f"rank_{name}": [None] for name in ("unpruned", "without_titles")}
    made = replay(rows(**columns, query_ngrams_all=[None]))["replay_ranks"]["rows"]
    searches = ["now", "unpruned", "without_titles", "without_unigrams"]
    assert [row[0] for row in made] == searches
    assert made[2][1] == made[2][4] == made[2][7] == 0
    made = replay(rows(**columns, query_ngrams_all=[1]))["replay_ranks"]["rows"]
    assert [row[0] for row in made] == [*searches[:3], "without_queries", "without_unigrams"]
    # A run has no n-grams; what the index's search found without titles is shown.
    of_run = columns | {"title_ngrams_all": [None], "rank_without_titles": [2]}
    made = replay(rows(**of_run))["replay_ranks"]["rows"]
    assert [row[0] for row in made] == searches


def test_without_a_model_every_table_names_the_options(rows):
    for table in replay(rows(positives=[1])).values():
        assert table["not_applicable"] == "This needs index and model: --corpus-index and --model."


def test_a_search_that_lost_nothing_says_so(rows):
    found = replay(rows(positives=[1], pruned=[0], rank_now=[1]))
    assert found["pruned"]["share"] == 0
    assert found["pruned_at"]["not_applicable"].startswith("The search wrote all n-grams")
