/** A shared cache in front of the server, which keeps all it may, never gives what one has paid for to another. */
import { request } from "node:http"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { inFrontOf, nginx } from "../lab/proxy/Nginx.ts"
import { type Answer, ask, layer as world, newCommitment, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { live } from "../lab/Suites.ts"

if (nginx === "")
  process.stdout.write("No nginx in the PATH: the tests of a shared cache are skipped (apt install nginx-light).\n")

/** Header names and values as they are; one name may come twice. */
type Lines = ReadonlyArray<readonly [name: string, value: string]>

/** A POST with its headers unchanged. */
const raw = (url: string, body: string, lines: Lines) =>
  Effect.callback<Answer>((resume) => {
    const { host, hostname, pathname, port, search } = new URL(url)
    const headers = [
      ...(["host", host] as const),
      ...(body === "" ? [] : ["content-type", "application/json"]),
      "content-length",
      String(Buffer.byteLength(body)),
      ...lines.flat(),
    ]
    const sent = request({ hostname, port, path: pathname + search, method: "POST", headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const told = new Headers()
        for (const [name, values = []] of Object.entries(response.headersDistinct)) told.set(name, values.join(", "))
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: told, text, json: JSON.parse(text) }))
      })
    })
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(body)
  })

const acts: ReadonlyArray<readonly [path: string, body: () => object]> = [
  ["/api/witness", () => ({ commitment: newCommitment() })],
  ["/api/prayers/rain-crow", () => ({ agentName: "Wren", intentionCommitment: newCommitment() })],
  ["/api/acquire/rain-crow", () => ({})],
  ["/api/elements/beeswax/collect?spirit=rain-crow", () => ({ reason: "June" })],
  ["/api/candles/day/rain-crow", () => ({ dedication: "For the bees" })],
]

/** A stranger's spellings of an invalid payment, and of another buyer's payment. */
const spellings = (paid: string): ReadonlyArray<readonly [what: string, lines: Lines]> => [
  ["absent", []],
  ["empty", [["PAYMENT-SIGNATURE", ""]]],
  ["lower-case and empty", [["payment-signature", ""]]],
  ["lower-case", [["payment-signature", "bm9uZQ=="]]],
  ["upper-case", [["PAYMENT-SIGNATURE", "bm9uZQ=="]]],
  [
    "doubled and empty",
    [
      ["PAYMENT-SIGNATURE", ""],
      ["PAYMENT-SIGNATURE", ""],
    ],
  ],
  [
    "doubled",
    [
      ["PAYMENT-SIGNATURE", "bm9uZQ=="],
      ["payment-signature", "bm9uZQ=="],
    ],
  ],
  [
    "somebody's, doubled",
    [
      ["PAYMENT-SIGNATURE", paid],
      ["payment-signature", paid],
    ],
  ],
  ["somebody's, lower-case", [["payment-signature", paid]]],
  ["of the version before", [["X-PAYMENT", paid]]],
]

const cached = Effect.flatMap(TestServer, ({ url }) => inFrontOf(url))

describe.skipIf(nginx === "")("a shared cache", () => {
  live("never gives a paid answer to another caller, however the request spells the payment", () =>
    Effect.gen(function* () {
      const url = yield* cached

      // It is on: cacheable answers come from it.
      const picture = `${url}/art/pixels/pixel-bit-frog.png`
      yield* ask(picture)
      assert.strictEqual((yield* ask(picture)).headers.get("x-cache"), "HIT")

      for (const [path, bodyOf] of acts) {
        const body = JSON.stringify(bodyOf())
        const key = newKey()
        const unpaid = yield* raw(`${url}${path}`, body, [["Idempotency-Key", key]])
        assert.strictEqual(unpaid.status, 402, unpaid.text)
        const challenge = challengeOf(unpaid)
        const payment = encode(yield* sign(yield* newPayer(), challenge.accepts[0], challenge.resource))
        const headers = { "idempotency-key": key, "payment-signature": payment }
        const paid = yield* ask(`${url}${path}`, post(body, headers))
        assert.strictEqual(paid.status, 201, `the 402 was not kept: ${paid.text}`)
        const secrets = [JSON.parse(paid.text).record.id, paid.headers.get("payment-response") ?? ""]

        for (const [what, lines] of spellings(payment)) {
          for (const own of [[], [["Idempotency-Key", newKey()]]] satisfies ReadonlyArray<Lines>) {
            for (const sent of [body, ""]) {
              const answer = yield* raw(`${url}${path}`, sent, [...own, ...lines])
              const said = `${path}, payment ${what}: ${answer.status} ${answer.text}`
              assert.include([400, 402, 409], answer.status, said)
              assert.notStrictEqual(answer.headers.get("x-cache"), "HIT", said)
              assert.isNull(answer.headers.get("payment-response"), said)
              for (const secret of secrets) assert.notInclude(answer.text, secret, said)
            }
          }
        }

        const replay = yield* ask(`${url}${path}`, post(body, headers))
        assert.strictEqual(replay.status, 200, replay.text)
        assert.notStrictEqual(replay.headers.get("x-cache"), "HIT")
        assert.strictEqual(replay.headers.get("payment-response"), paid.headers.get("payment-response"))
      }
    }).pipe(Effect.scoped, Effect.provide(Layer.orDie(world()))),
  )
})
