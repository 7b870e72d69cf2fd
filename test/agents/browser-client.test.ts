/** A page of another origin calls the tools from a real browser, which asks for leave first and believes no test. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { browser, Browser } from "../lab/browser/Browser.ts"
import { serve } from "../lab/proxy/HttpServer.ts"

browser("a page of another origin", (it) => {
  it("connects, lists the tools and calls one", async ({ url, run }) => {
    const chromium = await run(Browser)
    // A context without the headers that other tests add to each request: they would be asked leave for, too.
    const context = await run(
      Effect.acquireRelease(
        Effect.promise(() => chromium.newContext()),
        (opened) => Effect.promise(() => opened.close()),
      ),
    )
    const page = await context.newPage()
    const elsewhere = await run(
      serve(async () => ({
        status: 200,
        body: "A page of another origin.",
        type: "text/plain",
      })),
    )
    await page.goto(elsewhere)
    const tools = `${url}/mcp`
    const answers = await run(
      Effect.promise(() =>
        page.evaluate(async (address) => {
          const send = async (method: string, params: object, more: Record<string, string> = {}) => {
            const response = await fetch(address, {
              method: "POST",
              headers: {
                "content-type": "application/json",
                accept: "application/json, text/event-stream",
                "mcp-protocol-version": "2025-06-18",
                ...more,
              },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
            })
            const { result } = await response.json()
            return result
          }
          const version = "2026-07-28"
          const meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
          }
          const now = { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "field" }
          return {
            from: location.origin,
            calledNow: await send("tools/call", { name: "field", arguments: {}, _meta: meta }, now),
            begun: await send("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} }),
            listed: await send("tools/list", {}),
            called: await send("tools/call", { name: "field", arguments: {} }),
          }
        }, tools),
      ),
    )
    assert.notStrictEqual(answers.from, new URL(tools).origin)
    assert.strictEqual(answers.begun.serverInfo.name, "spirit-altar")
    assert.lengthOf(answers.listed.tools, 5)
    assert.isTrue(answers.called.structuredContent.ok)
    assert.strictEqual(answers.calledNow.resultType, "complete")
    assert.deepEqual(answers.calledNow.structuredContent, answers.called.structuredContent)
  })
})
