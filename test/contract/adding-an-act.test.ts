/** An act is an endpoint, a behaviour and a text: with these a server sells it, with no other change. */
import { assert, it, layer } from "../lab/It.ts"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Effect, Layer } from "effect"
import { Moderation } from "../../src/altar/Moderation.ts"
import * as Server from "../../src/server/Server.ts"
import { buyer } from "../../src/buyer/index.ts"
import { newFaults } from "../lab/run/AnswerValidation.ts"
import { ask, newKey, newPayer, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { house, actTexts } from "./Bell.ts"
import { assertNone } from "../lab/Assertions.ts"
import { examplesOf, textOf } from "../lab/Sources.ts"

/** Buys it by its name with a library that does not list it. */
const ring = Effect.fnUntraced(function* (spirit: string, tone: string) {
  const { url } = yield* TestServer
  const altar = buyer({ url, account: yield* newPayer() })
  return yield* Effect.promise(() => altar.buy("ringBell", { spirit, tone }))
})

it("the guide to a new act shows the endpoint, the behaviour and the text that are sold here", () => {
  const own = textOf("test/contract/Bell.ts").replaceAll(/^ +|^export /gmu, "")
  const [endpoint = "", behaviour = "", told = ""] = examplesOf("docs/acts.md").map(({ text }) =>
    text.replaceAll(/^ +|^export /gmu, ""),
  )
  assert.include(own, endpoint)
  assert.include(own, told)
  // The guide has a comment in place of the record's statement.
  const [shown = ""] = behaviour.split("// one INSERT")
  assert.include(own, shown.replace("const act =", "return"))
})

layer(
  Layer.provideMerge(Moderation.layer.pipe(Layer.provide(actTexts)), world({}, {}, Server.layer(Layer.empty, house))),
  realClock,
)("a new act", (it) => {
  it.effect("is sold to the reference client once, replayed, and refused in the words of every act", function* () {
    const { url } = yield* TestServer
    const at = `${url}/api/bells/moss-hare`
    const buy = (account: Effect.Success<ReturnType<typeof newPayer>>, key: string) =>
      Effect.promise(async () => {
        const pay = wrapFetchWithPaymentFromConfig(fetch, {
          schemes: [{ network: "eip155:*", client: new ExactEvmScheme(account) }],
        })
        const response = await pay(at, post({ tone: "low" }, { "idempotency-key": key }))
        return { status: response.status, text: await response.text() }
      })
    const key = newKey()
    const payer = yield* newPayer()
    const first = yield* buy(payer, key)
    assert.strictEqual(first.status, 201, first.text)
    const { record, receipt } = JSON.parse(first.text)
    assert.deepInclude(record, { spirit: "moss-hare", tone: "low" })
    assert.strictEqual(receipt.amountAtomic, "10000")
    const again = yield* buy(payer, key)
    assert.deepStrictEqual(again, { status: 200, text: first.text.replace(/false\}$/u, "true}") })
    for (const [path, body, status, code] of [
      ["moss-hare", { tone: "low" }, 409, "already_rung"],
      ["rain-crow", { tone: "loud" }, 400, "bad_request"],
      ["no-such-spirit", { tone: "low" }, 404, "spirit_not_found"],
    ] as const) {
      const refused = yield* ask(`${url}/api/bells/${path}`, post(body, { "idempotency-key": newKey() }))
      assert.deepStrictEqual([refused.status, refused.json["code"]], [status, code])
    }
    const listed = yield* ask(`${url}/api/acts`)
    assert.deepInclude(JSON.parse(listed.text).acts[0], { act: "ringBell", record })
    // The written document knows the altar's own records alone; the one this server publishes knows the bell's, too.
    const faults = yield* Effect.promise(newFaults)
    assert.isNotEmpty(faults)
    assertNone(faults, (fault) => !fault.startsWith("GET /api/acts 200: body: /acts/0/record must"))
  })

  it.effect("is bought by its name with the library, and has its sentence on the pages", function* () {
    const { url } = yield* TestServer
    const { permalink, record } = yield* ring("rain-crow", "low")
    assert.deepInclude<object>(record, { spirit: "rain-crow", tone: "low" })
    assert.strictEqual(permalink, `${url}/acts/${record.id}`)

    const page = yield* ask(permalink, { headers: { accept: "text/html" } })
    assert.strictEqual(page.status, 200)
    assert.include(page.text.replace(/<[^>]+>/gu, ""), "rang the low bell of Rain Crow")
    const shown = [...page.text.matchAll(/<dt>(?<label>[^<]+)<\/dt>\s*<dd>(?<value>[^]*?)<\/dd>/gu)].map(
      ({ groups }) => [groups?.["label"], groups?.["value"]?.replace(/<[^>]+>/gu, "").trim()],
    )
    assert.deepInclude(shown, ["Spirit", "Rain Crow"])
    assert.deepInclude(shown, ["Tone", "low"])
    assert.isTrue(shown.some(([label]) => label === "Rung"))
  })

  it.effect("is named in every list of acts", function* () {
    const { url } = yield* TestServer
    const document = yield* read("/openapi.json")
    const operation = document.paths["/api/bells/{familiarId}"].post
    assert.strictEqual(operation.operationId, "ringBell")
    const bell = { $ref: "#/components/schemas/Bell" }
    assert.deepInclude(document.components.schemas.Act.properties.record.anyOf, bell)
    assert.strictEqual(operation.summary, "Ring a bell (0.01 USD)")
    assert.strictEqual(operation["x-payment-info"].price.amount, "0.01")

    const { actions } = yield* read("/.well-known/agent.json")
    assert.deepInclude(actions.at(-1), { name: "ringBell", priceUsd: "$0.01", amountAtomic: "10000" })
    const { resources } = yield* read("/.well-known/x402")
    const sold = resources.filter(({ url: one }: { readonly url: string }) => one.includes("/api/bells/"))
    assert.strictEqual(sold.length, 24)
    assert.include(
      (yield* ask(`${url}/llms.txt`)).text,
      "| `ringBell` | $0.01 | 10000 | `POST /api/bells/{spirit-id}` | tone, inscription? |",
    )
  })
})
