/** Routes with a limit of their own by address take exactly its number a minute, and say how long to wait. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { from, loopback, newAddress } from "../lab/server/Rooms.ts"
import { ask, newKey, post, realClock, TestServer, world } from "../lab/Fixture.ts"

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const salt = "a salt of sixteen or more"
const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

type Request = readonly [path: string, init?: RequestInit]

interface Row {
  readonly quota: number
  readonly what: string
  readonly status: number
  readonly says: RegExp
  readonly of: () => ReadonlyArray<Request>
}

const rows: ReadonlyArray<Row> = [
  {
    quota: 60,
    what: "reveals and unseals together",
    status: 404,
    says: /60 reveals and unseals per minute/u,
    of: () => [
      [`/api/witness/${id}/reveal`, post({ salt, text: "x" })],
      [`/api/candles/${id}/unseal`, post({ salt, words: "x" })],
    ],
  },
  {
    quota: 60,
    what: "searches for words",
    status: 200,
    says: /60 searches for words per minute/u,
    of: () => [["/v2/acts?q=e"], ["/v2/acts?q=f&kind=stone"]],
  },
  {
    quota: 240,
    what: "reconciles",
    status: 404,
    says: /240 reconciles per minute .* this request charged and changed nothing\./u,
    of: () => [[`/api/reconcile/${newKey()}`, { method: "POST" }]],
  },
  {
    quota: 120,
    what: "MCP messages on both paths together",
    status: 200,
    says: /120 MCP messages per minute/u,
    of: () => [
      ["/mcp", post(ping)],
      ["/api/mcp", post(ping)],
    ],
  },
]

layer(world({}, { trustedProxies: loopback }), realClock)("one address may send", (it) => {
  it.effect.each(rows)("$quota $what a minute", function* ({ of, quota, says, status }) {
    const { url } = yield* TestServer
    const headers = from(newAddress())
    const answers = yield* Effect.forEach(
      Array.from({ length: quota + 20 }, (_, index): Request => of()[index % of().length] ?? [""]),
      ([path, init]) => ask(`${url}${path}`, { ...init, headers: { ...Object(init?.headers), ...headers } }),
      { concurrency: 16 },
    )
    const refused = answers.filter((answer) => answer.status === 429)
    assert.lengthOf(refused, 20)
    assert.lengthOf(
      answers.filter((answer) => answer.status === status),
      quota,
    )
    for (const answer of refused) {
      assert.match(answer.text, says)
      const wait = Number(answer.headers.get("retry-after"))
      assert.isTrue(wait >= 1 && wait <= 60, String(wait))
    }
  })
})
