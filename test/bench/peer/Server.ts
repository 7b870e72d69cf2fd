/** The same service as most people would build it: Hono, the stock x402 middleware and postgres.js, in one process. */
import { serve } from "@hono/node-server"
import { HTTPFacilitatorClient } from "@x402/core/server"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/hono"
import { Hono } from "hono"
import { compress } from "hono/compress"
import { recipe } from "../../../schema/altar/Recipe.ts"
import { spiritIds, spiritOf } from "../../../schema/altar/Spirit.ts"
import { spirits as pages } from "../../../src/altar/Spirits.ts"
import { answerUnder, append, connect, headOf, keepersOf, newest, range, type StoneRow } from "./Store.ts"

const { DATABASE_URL = "", FACILITATOR_URL = "", PAY_TO: payTo = "", PUBLIC_URL: publicUrl = "" } = process.env
const network = "eip155:84532"
const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
const sql = connect(DATABASE_URL)

const chainRecipe =
  "chainHash = lowercase hex SHA-256( previousHash 0x00 sequence 0x00 commitment 0x00 witnessedAt 0x00 transaction ) in UTF-8; previousHash of the first stone is 64 zeros"

const stoneOf = (row: StoneRow) => ({
  id: row.id,
  permalink: `${publicUrl}/witness/${row.id}`,
  commitment: row.commitment,
  kind: row.kind,
  spirit: row.spirit,
  witnessedAt: row.witnessedAt,
  sequence: row.sequence,
  chainHash: row.chainHash,
  previousHash: row.previousHash,
  payer: row.payer,
  transaction: row.transaction,
  verify: { recipe: `${recipe}; ${chainRecipe}`, revealUrl: `${publicUrl}/api/witness/${row.id}/reveal` },
})

const answerOf = (row: StoneRow) => {
  const record = stoneOf(row)
  const receipt = {
    transaction: row.transaction,
    network,
    asset,
    amountAtomic: "10000",
    priceUsd: "$0.01",
    payer: row.payer,
    payTo,
    settledAt: row.witnessedAt,
    explorerUrl: `https://sepolia.basescan.org/tx/${row.transaction}`,
  }
  return JSON.stringify({ ok: true, record, receipt, permalink: record.permalink, replayed: false })
}

interface Body {
  readonly commitment: string
  readonly kind?: string
  readonly spirit?: string
  readonly agentName?: string
}

const kinds = new Set(["intention", "prediction", "promise", "hash"])
const spirits = new Set<string>(spiritIds)
const shown = pages.map(({ lines: _, ...page }) => ({ ...page, image: `/art/spirits/${page.id}.svg` }))

const isText = (value: unknown) => value === undefined || typeof value === "string"
const isBody = (body: Partial<Record<keyof Body, unknown>> | null): body is Body =>
  typeof body === "object" &&
  body !== null &&
  typeof body.commitment === "string" &&
  /^[0-9a-f]{64}$/u.test(body.commitment) &&
  (body.kind === undefined || kinds.has(String(body.kind))) &&
  (body.spirit === undefined || spirits.has(String(body.spirit))) &&
  isText(body.agentName)

/** With the flow `upfront` the stock middleware settles before the handler; this is how the handler learns the hash. */
const settled = new Map<string, { readonly transaction: string; readonly payer: string }>()

interface HttpTransport {
  readonly request: { readonly paymentHeader?: string }
}
const isHttp = (context: unknown): context is HttpTransport =>
  typeof context === "object" && context !== null && "request" in context

const facilitator = new HTTPFacilitatorClient({ url: FACILITATOR_URL })
const resourceServer = new x402ResourceServer(facilitator)
  .register(network, new ExactEvmScheme())
  .onAfterSettle(async ({ result, transportContext }) => {
    const header = isHttp(transportContext) ? transportContext.request.paymentHeader : undefined
    if (header !== undefined)
      settled.set(header, { transaction: result.transaction, payer: (result.payer ?? "").toLowerCase() })
  })

const app = new Hono<{ Variables: { body: Body; key: string } }>()

app.post("/api/witness", async (c, next) => {
  const key = c.req.header("idempotency-key")
  const text = await c.req.text()
  if (text === "" && key === undefined && c.req.header("payment-signature") === undefined) return next()
  if (key === undefined || !/^[A-Za-z0-9_-]{12,128}$/u.test(key)) return c.json({ ok: false }, 400)
  const body: unknown = JSON.parse(text)
  if (typeof body !== "object" || !isBody(body)) return c.json({ ok: false }, 400)
  const known = await answerUnder(sql, key)
  if (known !== undefined) return c.body(known, 200, { "content-type": "application/json" })
  c.set("body", body)
  c.set("key", key)
  return next()
})

app.use(
  paymentMiddleware(
    {
      "POST /api/witness": {
        accepts: { scheme: "exact", price: "$0.01", network, payTo, extra: { paymentFlow: "upfront" } },
        resource: `${publicUrl}/api/witness`,
        description: "One witness stone: a timestamped sealed commitment in a public hash chain",
        mimeType: "application/json",
      },
    },
    resourceServer,
  ),
)

app.post("/api/witness", async (c) => {
  const header = c.req.header("payment-signature") ?? ""
  const payment = settled.get(header)
  if (payment === undefined) return c.json({ ok: false }, 500)
  settled.delete(header)
  const { agentName, commitment, kind, spirit } = c.get("body")
  const stone = {
    commitment,
    kind: kind ?? "intention",
    spirit: spirit ?? spiritOf(commitment),
    agentName: agentName ?? null,
  }
  const answer = await append(sql, c.get("key"), { ...stone, ...payment }, answerOf)
  return c.body(answer, 201, { "content-type": "application/json" })
})

app.use(compress({ threshold: 1024 }))

app.get("/api/spirits", async (c) => {
  const keepers = await keepersOf(sql)
  const brief = ({ agentName, id, keeper, keptAt }: (typeof keepers)[number]) => ({
    id,
    permalink: `${publicUrl}/acts/${id}`,
    keeper,
    agentName,
    keptAt: keptAt.toISOString(),
  })
  const bySpirit = new Map(keepers.map((row) => [row.spirit, brief(row)]))
  return c.json({ ok: true, spirits: shown.map((page) => ({ ...page, keeper: bySpirit.get(page.id) ?? null })) })
})

app.get("/api/witness", async (c) => {
  const before = Number(c.req.query("before") ?? Number.MAX_SAFE_INTEGER)
  const [rows, head] = await Promise.all([newest(sql, Number(c.req.query("limit") ?? 20), before), headOf(sql)])
  const stones = rows.map((row) => ({
    ...stoneOf(row),
    agentName: row.agentName,
    reveal:
      row.revealedAt === null
        ? null
        : {
            text: row.revealHidden === true ? null : row.revealText,
            hidden: row.revealHidden === true,
            agentName: row.revealAgentName,
            revealedAt: row.revealedAt.toISOString(),
          },
  }))
  const oldest = stones.at(-1)
  return c.json({ ok: true, stones, head, next: oldest !== undefined && oldest.sequence > 1 ? oldest.sequence : null })
})

app.get("/api/witness/chain", async (c) => {
  const from = Number(c.req.query("from") ?? 1)
  const limit = Number(c.req.query("limit") ?? 50)
  const [rows, head] = await Promise.all([range(sql, from - 1, from + limit - 1), headOf(sql)])
  const before = rows[0]?.sequence === from - 1 ? rows[0] : undefined
  const { chainHash, sequence } = from === 1 ? { sequence: 0, chainHash: "0".repeat(64) } : (before ?? head)
  const entries = before === undefined ? rows : rows.slice(1)
  const last = entries.at(-1)
  const next = last !== undefined && last.sequence < head.sequence ? last.sequence + 1 : null
  return c.json({ ok: true, anchor: { sequence, chainHash }, entries, head, next })
})

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`Listening on http://127.0.0.1:${port}`),
)
