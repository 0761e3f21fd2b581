"""The echo graph as a server loads it: without a checkpointer, which the server brings."""

from tests.support.echo_graph import make_echo_builder

graph = make_echo_builder().compile(name="echo")
