"""The public MCP client library against `assay mcp`: it drives a probe, a run and a whole curve."""

import asyncio
import contextlib
import json
import os

import mcp
from mcp.client.stdio import stdio_client


@contextlib.asynccontextmanager
async def session(folder, *flags):
    server = mcp.StdioServerParameters(command=os.environ["ASSAY_BIN"],
                                       args=["mcp", "--folder", str(folder), *flags])
    async with stdio_client(server) as (read, write):
        async with mcp.ClientSession(read, write) as one:
            await one.initialize()
            yield one


def output(result):
    assert not getattr(result, "isError", getattr(result, "is_error", None)), result
    content = getattr(result, "structuredContent", None) or result.structured_content
    return content


def test_lists_tools_that_the_client_accepts(tmp_path):
    async def go():
        async with session(tmp_path, "--allow-write") as one:
            return [tool.name for tool in (await one.list_tools()).tools]

    names = asyncio.run(go())
    assert {"probe", "run", "curve", "check", "simulate", "stop_service"} <= set(names)


def test_speaks_the_revision_without_a_handshake(tmp_path):
    async def go():
        parameters = mcp.StdioServerParameters(command=os.environ["ASSAY_BIN"],
                                               args=["mcp", "--folder", str(tmp_path)])
        async with mcp.Client(parameters) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return client.protocol_version, tools, await client.call_tool("version", {})

    revision, tools, result = asyncio.run(go())
    assert revision == "2026-07-28"
    assert "probe" in tools and "run" not in tools
    assert output(result)["exit_code"] == 0


def test_drives_a_whole_curve(tmp_path):
    async def go():
        async with session(tmp_path, "--allow-write") as one:
            ready = output(await one.call_tool(
                "endpoint", {"port": 0, "osl": "8", "ttft": "2ms", "itl": "1ms"}))
            url = ready["said"]
            probe = output(await one.call_tool("probe", {"url": url}))
            said = []

            async def heard(progress, total, message):
                said.append((progress, message))

            curve = output(await one.call_tool(
                "curve", {"endpoint": url, "model": "assay", "concurrency": "1,2", "quick": True,
                          "prompts": 12, "isl": 30, "report_dir": "curve",
                          "allow_client_limited": True},
                progress_callback=heard))
            await one.call_tool("stop_service", {"service": ready["service"]})
            return probe, curve, said

    probe, curve, said = asyncio.run(go())
    assert probe["exit_code"] == 0
    assert curve["exit_code"] == 0, json.dumps(curve)[:2000]
    assert len(curve["output"]["points"]) == 2
    assert [number for number, _ in said] == sorted(number for number, _ in said)
