"""The server as delivered, with scripted models."""

import json
from dataclasses import dataclass

from tests.support.langgraph_server import REPOSITORY, RunningServer, ServerFiles
from tests.support.model_server import ModelServer

DELIVERED = json.loads((REPOSITORY / "langgraph.json").read_text())
PRODUCT = ServerFiles(
    graphs=DELIVERED["graphs"], store=DELIVERED["store"]["path"], checkpointer=DELIVERED["checkpointer"]["path"]
)


@dataclass(frozen=True)
class Product:
    """A running server and the models that it talks to."""

    server: RunningServer
    model: ModelServer

    @property
    def url(self) -> str:
        return self.server.url
