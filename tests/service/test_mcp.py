"""Tools for agents, by the client of the official SDK in this process."""

import anyio

from argus.service.workplace import open_workplace
from tests.support.superseding import story_source

QUESTION = "archives that write outside of their folder"


def test_an_agent_searches_and_asks_why_it_did_not_find_something(story):
    from mcp import Client

    from argus.service.mcp import mcp_server

    server = mcp_server(open_workplace([story / "index"], authority=story_source(story)))

    async def talk():
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"search", "why_not"}
            assert all(tool.annotations.read_only_hint for tool in tools.values())
            answer = await client.call_tool("search", {"query": QUESTION, "k": 2})
            first = answer.structured_content["results"][0]
            assert (first["id"], first["anchor"]) == ("fix-1b", "flaw-1")
            assert first["chain"][0]["rule"] == "fix"
            then = {"query": QUESTION, "k": 1, "as_of": "2024-01-15"}
            early = await client.call_tool("search", then)
            assert early.structured_content["results"][0]["id"] == "flaw-1"
            why = await client.call_tool("why_not", {"query": QUESTION, "id": "nobody"})
            assert "not in index" in str(why.structured_content)
            wrong = await client.call_tool("search", {"query": "x", "as_of": "yesterday"})
            assert wrong.is_error and "yesterday" in wrong.content[0].text

    anyio.run(talk)
