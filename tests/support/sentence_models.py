"""Tiny, randomly initialised sentence models that read letters: dense, sparse and of tokens."""

import string

HIDDEN, WINDOW = 32, 32


def make_model(
    folder, *, seed=0, pooling="mean", dense=None, prompts=None, normalize=True, cased=False,
    similarity=None,
):  # fmt: skip
    """Save a real, tiny BERT as a sentence model; return the folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as of
    from transformers import BertModel

    bert = word_pieces(folder, cased=cased)
    torch.manual_seed(seed)
    BertModel(_config(bert)).save_pretrained(bert)
    modules = [
        of.Transformer(str(bert), max_seq_length=WINDOW),
        of.Pooling(HIDDEN, pooling_mode=pooling),
        *([of.Dense(HIDDEN, dense)] if dense else []),
        *([of.Normalize()] if normalize else []),
    ]
    SentenceTransformer(
        modules=modules, prompts=prompts or {}, similarity_fn_name=similarity, device="cpu"
    ).save(str(folder))
    return folder


def word_pieces(folder, *, cased=False):
    """Save a tokenizer of letters and a few words beside a model's folder; return its own."""
    from transformers import BertTokenizerFast

    bert = folder.parent / f"{folder.name}-bert"
    bert.mkdir(parents=True)
    letters = string.ascii_letters if cased else string.ascii_lowercase
    pieces = [*letters, *(f"##{c}" for c in letters), *".,:-"]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, "query", "passage", "river"]
    (bert / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer = BertTokenizerFast(vocab=str(bert / "vocab.txt"), do_lower_case=not cased)
    tokenizer.save_pretrained(bert)
    return bert


def _config(bert):
    from transformers import BertConfig

    words = len((bert / "vocab.txt").read_text().splitlines())
    return BertConfig(
        vocab_size=words, hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=WINDOW, initializer_range=0.3,
    )  # fmt: skip


def make_sparse(folder, *, prompts=None):
    """Save a tiny SPLADE: a masked language model whose best logits are the text's own words."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sentence_transformer.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling
    from transformers import BertForMaskedLM

    bert = word_pieces(folder)
    torch.manual_seed(0)
    model = BertForMaskedLM(_config(bert))
    with torch.no_grad():  # about as many terms as a text has words
        model.cls.predictions.decoder.bias -= 1
    model.save_pretrained(bert)
    modules = [
        Transformer(str(bert), transformer_task="fill-mask", max_seq_length=WINDOW),
        SpladePooling(),
    ]
    SparseEncoder(modules=modules, similarity_fn_name="dot", prompts=prompts, device="cpu").save(
        str(folder)
    )
    return folder


def make_late(folder, *, skip=(), expansion=None, prompts=None):
    """Save a tiny ColBERT: unit vectors of 16 numbers for every token but those to skip."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Transformer
    from transformers import BertModel

    bert = word_pieces(folder)
    torch.manual_seed(0)
    BertModel(_config(bert)).save_pretrained(bert)
    of_tokens = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    modules = [
        Transformer(str(bert), max_seq_length=WINDOW, query_expansion=expansion),
        Dense(HIDDEN, 16, bias=False, activation_function=torch.nn.Identity(), **of_tokens),
        MultiVectorMask(list(skip)),
        Normalize(**of_tokens),
    ]
    MultiVectorEncoder(
        modules=modules, similarity_fn_name="maxsim", prompts=prompts, device="cpu"
    ).save(str(folder))
    return folder
