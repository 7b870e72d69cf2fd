/** Every text of a stranger, wherever a page, a feed, a list or a tool shows it: never as markup, and nowhere once it is hidden. */
import { buyForId } from "../lab/buyer/Purchase.ts"
import { reveal, salt, unseal } from "../lab/buyer/Sealed.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { ask, realClock, TestServer, world } from "../lab/Fixture.ts"
import { call, connect } from "../lab/McpClient.ts"
import { operations } from "../lab/OpenApi.ts"

/** A text with markup, and a word that finds it again in whatever shows it. */
const markup = (word: string) => `<b onclick="x">${word}</b>`

/** One row of each kind, with every text that a stranger may write; the words of each by the act's id and member. */
const written = Effect.gen(function* () {
  const spirit = "moss-hare"
  const sealed = (words: string) => seal(salt, markup(words))
  const prayer = yield* buyForId(`/api/prayers/${spirit}`, {
    agentName: markup("Prayername"),
    intentionCommitment: sealed("unsaid"),
  })
  const keeper = yield* buyForId(`/api/acquire/${spirit}`, {
    agentName: markup("Keepername"),
    reason: markup("Keeperreason"),
  })
  const item = yield* buyForId(`/api/elements/beeswax/collect?spirit=${spirit}`, {
    agentName: markup("Itemname"),
    reason: markup("Itemreason"),
  })
  const candle = yield* buyForId(`/api/candles/day/${spirit}`, {
    dedication: markup("Candlededication"),
    agentName: markup("Candlename"),
    intentionCommitment: sealed("Candlewords"),
  })
  const light = yield* buyForId(`/api/candles/day/${spirit}`, {
    parentId: candle,
    agentName: markup("Lightname"),
    intentionCommitment: sealed("Lightwords"),
  })
  const stone = yield* buyForId("/api/witness", {
    agentName: markup("Stonename"),
    spirit,
    commitment: sealed("Stonewords"),
  })
  const nameless = yield* buyForId("/api/witness", { spirit, commitment: sealed("Otherwords") })
  yield* unseal(candle, markup("Candlewords"))
  yield* unseal(light, markup("Lightwords"))
  yield* reveal(stone, markup("Stonewords"))
  yield* reveal(nameless, markup("Otherwords"), { agentName: markup("Revealname") })
  return [
    [prayer, "name", "Prayername"],
    [keeper, "name", "Keepername"],
    [keeper, "reason", "Keeperreason"],
    [item, "name", "Itemname"],
    [item, "reason", "Itemreason"],
    [candle, "dedication", "Candlededication"],
    [candle, "name", "Candlename"],
    [candle, "words", "Candlewords"],
    [light, "name", "Lightname"],
    [light, "words", "Lightwords"],
    [stone, "name", "Stonename"],
    [stone, "words", "Stonewords"],
    [nameless, "name", "Revealname"],
    [nameless, "words", "Otherwords"],
  ] as const
})

/** Follows every link of the pages from the first one, and asks every free read for these acts. */
const everything = Effect.fnUntraced(function* (ids: Iterable<string>) {
  const { url } = yield* TestServer
  const reads = operations
    .filter(({ method, path }) => method === "GET" && !path.includes("{roomId}"))
    .flatMap(({ path }) =>
      path.includes("{") ? [...ids].map((id) => path.replace(/\{\w+\}/u, id)) : [path, `${path}?spirit=moss-hare`],
    )
  const searches = ["onclick", "Candlededication", "Stonewords", "%3Cscript%3E"].map((words) => `/v2/acts?q=${words}`)
  const cursor = "/v2/candles?before=%22%3E%3Cscript%3E"
  const queue = new Set(["/v2/", "/for-agents", ...reads, ...searches, cursor])
  const texts = new Map<string, string>()
  for (const path of queue) {
    const { headers, status, text } = yield* ask(url + path, {
      headers: { accept: "text/html, application/json;q=0.9, */*;q=0.8" },
    })
    assert.isBelow(status, 500, path)
    if (status !== 200) continue
    texts.set(path, text)
    if (headers.get("content-type")?.startsWith("text/html") !== true) continue
    for (const [, link = ""] of text.matchAll(/ href="([^"]*)"/gu)) {
      const { host, pathname, search } = new URL(link.replaceAll("&amp;", "&"), url + path)
      if (host !== new URL(url).host || pathname.startsWith("/assets/")) continue
      if (queue.size < 400) queue.add(pathname + search)
    }
  }
  const tools = yield* connect(`${url}/mcp`)
  for (const [tool, input] of [
    ["field"],
    ["spirits"],
    ["altar", { spirit: "moss-hare" }],
    ["altar"],
    ["spirits", { spirit: "moss-hare" }],
  ] as const)
    texts.set(tool, (yield* call(tools, tool, input)).text)
  return texts
})

layer(Layer.provideMerge(Moderation.layer, world()), realClock)("the text of a stranger", (it) => {
  it.effect("is no markup where it is shown, and is shown nowhere while an operator hides it", function* () {
    const sql = yield* SqlClient.SqlClient
    const moderation = yield* Moderation
    const rows = yield* written
    const ids = new Set(rows.map(([id]) => id))
    const shown = yield* everything(ids)
    assert.isAbove(shown.size, 60)
    for (const place of ["/api/wallets/", "/v2/wallets/"])
      assert.isTrue(
        [...shown].some(([path, text]) => path.startsWith(place) && text.includes("Stonewords")),
        place,
      )
    const joined = [...shown.values()].join("\n")
    for (const [, , word] of rows)
      assert.isAbove(joined.split(word).length, 2, `${word} is shown on a page and in an answer`)
    for (const [path, text] of shown)
      if (text.startsWith("<")) assert.notMatch(text, /<b onclick|onclick="x"|<script>/u, path)

    for (const [id, member] of rows) yield* sql.withTransaction(moderation.hide(id, member))
    const hidden = yield* everything(ids)
    for (const [path, text] of hidden)
      for (const [, , word] of rows)
        // A search repeats what was searched for.
        if (!path.includes(word)) assert.notInclude(text, word, `${path} shows ${word}`)
  })
})
