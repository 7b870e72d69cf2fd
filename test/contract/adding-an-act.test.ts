/** An act is an endpoint, a behaviour and a telling: with these a whole server sells it, without a word more anywhere. */
import { readFileSync } from "node:fs"
import { assert, it, layer } from "@effect/vitest"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Api } from "../../schema/Api.ts"
import { AltarRequests, Unknown } from "../../schema/altar/Requests.ts"
import { SpiritId, SpiritNotFound } from "../../schema/altar/Spirit.ts"
import { lineOf, Timestamp, Url, Uuid } from "../../schema/Common.ts"
import { settledAct } from "../../schema/payments/Act.ts"
import { paidErrors, paidHeaders, settled } from "../../schema/payments/Endpoint.ts"
import { paid } from "../../schema/payments/Sale.ts"
import { at, envelope, nothingNow } from "../../schema/Refusal.ts"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { paidActs, Tellings } from "../../src/altar/Acts.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { telling } from "../../src/altar/Telling.ts"
import { buyer } from "../../src/buyer/index.ts"
import * as PaidRoutes from "../../src/altar/PaidRoutes.ts"
import * as Middleware from "../../src/server/Middleware.ts"
import { actsByName, paidAct, PaidActs } from "../../src/payments/PaidAct.ts"
import { now } from "../../src/platform/Time.ts"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import * as Routes from "../../src/server/Routes.ts"
import type * as Server from "../../src/server/Server.ts"
import { part } from "../../src/platform/SqlPart.ts"
import { newFaults } from "../lab/run/AnswerValidation.ts"
import { examplesOf } from "../lab/Documents.ts"
import { call, connect } from "../lab/McpClient.ts"
import { ask, layer as world, newKey, newPayer, post, World } from "../lab/Fixture.ts"

// What would stand in schema/altar/Bell.ts.

const BellBody = Schema.Struct({
  tone: Schema.Literals(["low", "high"]).annotate({ description: "How it sounds.", examples: ["low"] }),
  inscription: Schema.optionalKey(lineOf(1, 40).annotate({ description: "Cast into the bell, in public." })),
}).annotate({ identifier: "BellBody", description: "How a bell is rung.", examples: [{ tone: "low" }] })

const Bell = Schema.Struct({
  id: Uuid,
  permalink: Url,
  spirit: SpiritId,
  tone: BellBody.fields.tone,
  inscription: Schema.NullOr(lineOf(1, 40)),
  rungAt: Timestamp,
}).annotate({ identifier: "Bell", description: "A bell that was rung, once for each spirit and tone." })

class AlreadyRung extends Schema.Error<AlreadyRung>("AlreadyRung")(
  envelope("already_rung", `This bell has been rung; choose another spirit or tone. ${nothingNow}`),
  at(409, "The bell of this spirit and tone was rung."),
) {}

const BellSettled = settledAct(Bell).annotate({ identifier: "BellSettled", description: "A settled bell." })

const ringBell = paid(
  HttpApiEndpoint.post("ringBell", "/api/bells/:familiarId", {
    params: { familiarId: SpiritId },
    headers: paidHeaders,
    payload: BellBody,
    success: settled(BellSettled),
    error: [...paidErrors, SpiritNotFound, AlreadyRung],
  }).annotate(Unknown, () => new SpiritNotFound({})),
  {
    priceAtomic: 20_000n,
    description: "One stroke of a spirit's bell",
    parameter: "spirit-id",
    title: "Ring a bell",
    summary: "Once for each spirit and tone.",
  },
)

class BellsGroup extends HttpApiGroup.make("bells").add(ringBell).middleware(AltarRequests) {}

// What would stand in src/altar/bells/Bells.ts, with its migration.

const ringing = telling(Bell, {
  sentence: ({ spirit, tone }) => `rang the ${tone} bell of ${spirit}`,
  labels: {
    id: null,
    permalink: null,
    spirit: ["Spirit", "spirit"],
    tone: "Tone",
    inscription: null,
    rungAt: ["Rung", "time"],
  },
  card: ({ spirit, tone }) => ({ title: `A bell of ${spirit}`, line: `Rung once, ${tone}` }),
  hideable: { table: "bells", texts: { inscription: "inscription" } },
  onAltar: (spirit, limit) => part`(SELECT id FROM bells WHERE spirit = ${spirit}::text LIMIT ${limit}::int)`,
})

const bells = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const publicUrl = yield* PublicUrl
  yield* Effect.orDie(
    sql`CREATE TABLE bells (id uuid PRIMARY KEY, spirit text NOT NULL, tone text NOT NULL, inscription text)`,
  )
  return paidAct(ringBell, {
    claims: ({ familiarId, tone }) => ({ slots: [`bell:${familiarId}:${tone}`] }),
    conflict: () => new AlreadyRung({}),
    record: Effect.fn("Bells.record")(function* (paid) {
      const rungAt = yield* now
      const rung = paid.map(({ id, input: { familiarId: spirit, inscription = null, tone } }) => ({
        id,
        spirit,
        tone,
        inscription,
      }))
      yield* Effect.forEach(rung, (bell) => sql`INSERT INTO bells ${sql.insert(bell)}`, { discard: true })
      return rung.map((bell) => ({
        record: { ...bell, permalink: `${publicUrl}/acts/${bell.id}`, rungAt },
        path: `/acts/${bell.id}`,
        agentName: null,
        at: rungAt,
      }))
    }),
  })
})

// What would be one line in schema/altar/Sales.ts and one in src/altar/Acts.ts.

const contract = Api.add(BellsGroup)

const tellings = Layer.effect(
  Tellings,
  Effect.map(Tellings, (altar) => new Map([...altar, ["ringBell", ringing]])),
)

const house: Server.House = {
  routes: Routes.routesOf(contract).pipe(Layer.provide([Routes.handlers, PaidRoutes.routes(BellsGroup)])),
  middleware: Middleware.layer(contract),
  acts: Layer.effect(
    PaidActs,
    Effect.zipWith(PaidActs, bells, (altar, bell) => actsByName([...altar.values(), bell])),
  ).pipe(Layer.provide(paidActs), Layer.merge(tellings)),
}

it("the guide shows the endpoint, the behaviour and the telling that are sold here", () => {
  const own = readFileSync(import.meta.filename, "utf8").replaceAll(/^ +/gmu, "")
  const [endpoint = "", behaviour = "", told = ""] = examplesOf("docs/adding-an-act.md").map(({ text }) =>
    text.replaceAll(/^ +|^export /gmu, ""),
  )
  assert.include(own, endpoint)
  assert.include(own, told)
  // What a record writes stands there as a comment.
  const [shown = ""] = behaviour.split("// one INSERT")
  assert.include(own, shown.replace("const act =", "return"))
})

layer(Layer.provideMerge(Moderation.layer.pipe(Layer.provide(tellings)), world({}, house)), {
  excludeTestServices: true,
})("a new act", (it) => {
  it.effect("is sold to the reference client once, replayed, and refused to the next", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const at = `${url}/api/bells/moss-hare`
      assert.strictEqual((yield* ask(at, { method: "POST" })).status, 402)
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
      assert.strictEqual(receipt.amountAtomic, "20000")

      const again = yield* buy(payer, key)
      assert.deepStrictEqual(again, { status: 200, text: first.text.replace(/false\}$/u, "true}") })
      const other = yield* buy(yield* newPayer(), newKey())
      assert.deepStrictEqual([other.status, JSON.parse(other.text).code], [409, "already_rung"])

      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT spirit, tone FROM bells`, [{ spirit: "moss-hare", tone: "low" }])
      const listed = yield* ask(`${url}/api/acts`)
      assert.deepInclude(JSON.parse(listed.text).acts[0], { act: "ringBell", record })
      // The written document knows the altar's own records alone; the one this server publishes knows the bell's, too.
      const faults = yield* Effect.promise(newFaults)
      assert.isTrue(faults.every((fault) => fault.startsWith("GET /api/acts 200: body: /acts/0/record must")))
    }),
  )

  it.effect("is bought by its name with the library, and has its sentence on the pages", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const altar = buyer({ url, account: yield* newPayer(), sales: [ringBell] })
      const { permalink, record } = yield* Effect.promise(() =>
        altar.act("ringBell", { params: { familiarId: "rain-crow" }, payload: { tone: "low" } }),
      )
      assert.deepInclude<object>(record, { spirit: "rain-crow", tone: "low" })
      assert.strictEqual(permalink, `${url}/acts/${record.id}`)

      const home = (yield* ask(`${url}/v2/`, { headers: { accept: "text/html" } })).text
      const [, notes = ""] = home.split('id="acts"')
      const entry = notes.split("<li").find((one) => one.includes(`href="/acts/${record.id}"`)) ?? ""
      assert.include(entry.replace(/<[^>]+>/gu, ""), "rang the low bell of Rain Crow")
      assert.include(entry, "$0.02")
      const page = yield* ask(permalink, { headers: { accept: "text/html" } })
      assert.strictEqual(page.status, 200)
      assert.include(page.text.replace(/<[^>]+>/gu, ""), "rang the low bell of Rain Crow")
      const shown = [...page.text.matchAll(/<dt>(?<label>[^<]+)<\/dt>\s*<dd>(?<value>[^]*?)<\/dd>/gu)].map(
        ({ groups }) => [groups?.["label"], groups?.["value"]?.replace(/<[^>]+>/gu, "").trim()],
      )
      assert.deepInclude(shown, ["Spirit", "Rain Crow"])
      assert.deepInclude(shown, ["Tone", "low"])
      assert.isTrue(shown.some(([label]) => label === "Rung"))
      assert.include(page.text, `content="A bell of Rain Crow: Rung once, low"`)
      const feed = yield* ask(`${url}/v2/spirits/rain-crow/acts.atom`)
      assert.include(feed.text, "rang the low bell of Rain Crow")
    }),
  )

  it.effect("has public words that an operator can hide and show again", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const sql = yield* SqlClient.SqlClient
      const moderation = yield* Moderation
      const altar = buyer({ url, account: yield* newPayer(), sales: [ringBell] })
      const inscription = "Cast for a neighbour"
      const { permalink, record } = yield* Effect.promise(() =>
        altar.act("ringBell", { params: { familiarId: "slate-lynx" }, payload: { tone: "high", inscription } }),
      )
      const seen = Effect.gen(function* () {
        const page = yield* ask(permalink, { headers: { accept: "text/html" } })
        const json = yield* ask(`${url}/api/acts/${record.id}`)
        const stored = yield* sql`SELECT inscription FROM bells WHERE id = ${record.id}::uuid`
        return [page.text, json.text, JSON.stringify(stored)]
      })
      for (const text of yield* seen) assert.include(text, inscription)
      yield* moderation.hide(record.id, "inscription")
      for (const text of yield* seen) {
        assert.notInclude(text, inscription)
        assert.include(text, hiddenByOperator)
      }
      const nothing = yield* Effect.flip(moderation.hide(record.id, "dedication"))
      assert.strictEqual(nothing.message, `No dedication is shown of ${record.id}.`)
      yield* moderation.show(record.id, "inscription")
      for (const text of yield* seen) assert.include(text, inscription)
      const faults = yield* Effect.promise(newFaults)
      assert.isTrue(faults.every((fault) => fault.startsWith(`GET /api/acts/${record.id} 200: body: /act/record must`)))
    }),
  )

  it.effect("refuses what its contract does not know, in the words of every act", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const wrong = yield* ask(`${url}/api/bells/rain-crow`, post({ tone: "loud" }, { "idempotency-key": newKey() }))
      assert.deepStrictEqual([wrong.status, wrong.json["code"]], [400, "bad_request"])
      const nobody = yield* ask(`${url}/api/bells/no-such-spirit`, { method: "POST" })
      assert.deepStrictEqual([nobody.status, nobody.json["code"]], [404, "spirit_not_found"])
      const read = yield* ask(`${url}/api/bells/rain-crow`)
      assert.deepStrictEqual([read.status, read.headers.get("allow")], [405, "OPTIONS, POST"])
    }),
  )

  it.effect("is named wherever acts are named", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const document = JSON.parse((yield* ask(`${url}/openapi.json`)).text)
      const operation = document.paths["/api/bells/{familiarId}"].post
      assert.strictEqual(operation.operationId, "ringBell")
      const bell = { $ref: "#/components/schemas/Bell" }
      assert.deepInclude(document.components.schemas.Act.properties.record.anyOf, bell)
      assert.strictEqual(operation.summary, "Ring a bell (0.02 USD)")
      assert.strictEqual(operation["x-payment-info"].price.amount, "0.02")

      const { actions, buyerSpendPolicy } = JSON.parse((yield* ask(`${url}/.well-known/agent.json`)).text)
      assert.deepStrictEqual(actions.at(-1), {
        name: "ringBell",
        description: "One stroke of a spirit's bell",
        route: "POST /api/bells/{spirit-id}",
        example: `${url}/api/bells/moss-hare`,
        priceUsd: "$0.02",
        amountAtomic: "20000",
      })
      assert.deepInclude(buyerSpendPolicy.perAction.at(-1), { action: "ringBell", amountAtomic: "20000" })
      const { resources } = JSON.parse((yield* ask(`${url}/.well-known/x402`)).text)
      const sold = resources.filter(({ url: one }: { readonly url: string }) => one.includes("/api/bells/"))
      assert.strictEqual(sold.length, 24)
      assert.include(
        (yield* ask(`${url}/llms.txt`)).text,
        "| `ringBell` | `POST /api/bells/{spirit-id}` | tone, inscription? | $0.02 | `20000` | One stroke of a spirit's bell |",
      )
      assert.include((yield* ask(`${url}/docs`)).text, "ringBell")
    }),
  )

  it.effect("has a kit that pays", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const mcp = yield* connect(`${url}/mcp`)
      const kit = yield* call(mcp, "buy_kit", { action: "ringBell", spirit: "rain-crow", tone: "high" })
      assert.isFalse(kit.isError, kit.text)
      const { challenge, complete, price, request } = JSON.parse(kit.text)
      assert.deepStrictEqual([complete, price], [true, { usd: "$0.02", amountAtomic: "20000" }])
      assert.deepStrictEqual([request.url, request.body], [`${url}/api/bells/rain-crow`, { tone: "high" }])
      const asked = yield* ask(request.url, post(request.body, { "idempotency-key": newKey() }))
      assert.deepStrictEqual(JSON.parse(asked.text).challenge, challenge)
    }),
  )
})
