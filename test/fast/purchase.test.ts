/** The parts of a purchase that page, command and library share: the signature, and the meaning of an answer. */
import { assert, describe, it } from "@effect/vitest"
import { boundTo, toBase64, typedDataOf } from "../../src/buyer/core/Authorization.ts"
import { readChallenge } from "../../src/buyer/core/Challenge.ts"
import { type Expectation, mismatchOf } from "../../src/buyer/core/Expectation.ts"
import { pursue, type Pursued } from "../../src/buyer/core/Loop.ts"
import { type Body, readOutcome } from "../../src/buyer/core/Outcome.ts"
import { type Event, page, type Patience, program, type State } from "../../src/buyer/core/States.ts"
import { asking, payTo, stoneUrl as url } from "../lab/buyer/Offers.ts"

const challenge = asking()

const expectation: Expectation = {
  isResource: (resource) => resource === url,
  amountAtomic: 10_000n,
  network: "eip155:84532",
  payTo,
}

describe("the signed authorization", () => {
  it("has the known payee in any spelling, and needs an address where none is known before", () => {
    assert.isUndefined(mismatchOf(asking({ payTo: payTo.toLowerCase() }), expectation))
    const { payTo: _, ...anybody } = expectation
    assert.isUndefined(mismatchOf(challenge, anybody))
    assert.strictEqual(mismatchOf(asking({ payTo: "somebody" }), anybody)?.kind, "payee")
  })

  it("is based on one form of the header alone", () => {
    assert.deepStrictEqual(readChallenge(toBase64(JSON.stringify(challenge))), challenge)
    const { extra } = challenge.accepts[0]
    const more = { ...challenge, accepts: [{ ...challenge.accepts[0], extra: { ...extra, permit2: "yes" }, tip: "1" }] }
    assert.deepStrictEqual(readChallenge(toBase64(JSON.stringify(more))), challenge)
    const forms = [
      asking({ amount: "1e4" }),
      asking({ amount: "-1" }),
      asking({ amount: "010000" }),
      { ...challenge, accepts: [{ ...challenge.accepts[0], extra: { name: "USDC", version: "2" } }] },
      { ...challenge, accepts: [] },
      { ...challenge, accepts: [...challenge.accepts, ...challenge.accepts] },
      { ...challenge, x402Version: 1 },
      "nothing",
    ]
    for (const form of forms) assert.isUndefined(readChallenge(toBase64(JSON.stringify(form))))
    for (const header of [null, "", "not base64!"]) assert.isUndefined(readChallenge(header))
  })

  it("contains a fresh nonce and the chain of its offer", async () => {
    const bound = [await boundTo(challenge, "{}"), await boundTo(challenge, "{}")] as const
    const [one, other] = bound.map((each) => typedDataOf(challenge, each, payTo, 0))
    assert.strictEqual(one?.domain.chainId, 84_532)
    assert.notStrictEqual(one?.message.nonce, other?.message.nonce)
  })
})

const heard = (status: number, body: object, headers: Record<string, string> = {}) =>
  readOutcome({ status, headers: new Headers(headers), body: { ...body } })

describe("an answer to a paid request", () => {
  it("is the altar's alone when it has the contract's form", () => {
    assert.strictEqual(heard(201, { ok: true, record: {}, receipt: {} }).tag, "settled")
    for (const half of [{ record: {} }, { receipt: {} }, { record: "a stone", receipt: null }])
      assert.strictEqual(heard(201, { ok: true, ...half }).tag, "silent")
    for (const [status, body] of [
      [200, {}],
      [403, {}],
      [404, { ok: false }],
      [204, { ok: true }],
    ] as const)
      assert.strictEqual(heard(status, body).tag, "silent", `${status}`)
    const gateway = heard(502, { message: "Bad gateway" })
    assert.deepInclude(gateway, { tag: "silent", reason: "the altar answered 502" })
  })

  it("names its wait in seconds, as a date or in the body, of which the longest counts up to ten minutes", () => {
    const inFive = new Date(Date.now() + 300_000).toUTCString()
    const waits: ReadonlyArray<readonly [header: string, body: object, least: number, most: number]> = [
      ["7", {}, 7, 7],
      ["0", {}, 1, 1],
      ["900", {}, 600, 600],
      [inFive, {}, 298, 301],
      ["Thu, 01 Jan 1970 00:00:00 GMT", {}, 1, 1],
      ["5", { retryAfter: 30 }, 30, 30],
      ["120", { retryAfter: 1 }, 120, 120],
      ["soon", {}, 2, 2],
    ]
    for (const [header, body, least, most] of waits) {
      const pending = heard(202, { ok: true, ...body }, { "retry-after": header })
      assert.isTrue(pending.tag === "pending" && pending.seconds >= least && pending.seconds <= most, header)
    }
    const proxy = heard(503, {}, { "retry-after": "120" })
    assert.deepInclude(proxy, { tag: "silent", retryAfter: 120 })
  })
})

const offer = { "payment-required": toBase64(JSON.stringify(challenge)) }

const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers })
const no = (status: number, code: string) => () => answer(status, { ok: false, code, message: "No." })

/** One answer for each meaning. */
const answers: Readonly<Record<Event, () => Response>> = {
  settled: () => answer(201, { ok: true, record: {}, receipt: {}, permalink: "" }),
  pending: () => answer(202, { ok: true }, { "retry-after": "30" }),
  priced: () => answer(402, { ok: false, code: "payment_required", message: "Pay." }, offer),
  unknown: no(404, "attempt_not_found"),
  refused: no(409, "idempotency_conflict"),
  busy: no(503, "facilitator_unavailable"),
  silent: () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
}

/** Runs the loop over these answers; the last one repeats. The log has its requests, signatures and waits. */
const run = async (said: ReadonlyArray<() => Response>, patience: Patience, given: Partial<Pursued> = {}) => {
  const log: Array<string> = []
  let asked = 0
  const end = await pursue<Body, string>(
    { url, key: "key", body: "{}", altar: "", payment: undefined, amountAtomic: undefined, ...given },
    patience,
    {
      exchange: async (to, { headers }) => {
        const isSigned = new Headers(headers).has("payment-signature")
        log.push(to.includes("reconcile") ? "ask" : isSigned ? "pay" : "price")
        asked += 1
        return (said[Math.min(asked, said.length) - 1] ?? answers.silent)()
      },
      reasonOf: () => "no answer",
      wait: async (seconds) => log.push(`${seconds} s`),
      sign: async (offered) => {
        log.push("sign")
        return offered === undefined ? { stop: "no terms" } : { payment: "signed" }
      },
      answerOf: async (body) => body,
      asking: () => {},
      waiting: () => {},
    },
  )
  return { log, end }
}

describe("the loop of a purchase", () => {
  const start: Readonly<Record<State, Partial<Pursued>>> = {
    price: {},
    pay: { payment: "signed" },
    ask: { payment: "signed", isResumed: true },
  }
  /** The end or the next request after each answer in each state, with the wait before it. */
  const cells: Readonly<Record<State, Readonly<Record<Event, string>>>> = {
    price: {
      settled: "misrecorded",
      pending: "30 s, ask",
      priced: "sign, pay",
      unknown: "refused",
      refused: "refused",
      busy: "1 s, price",
      silent: "1 s, price",
    },
    pay: {
      settled: "misrecorded",
      pending: "30 s, ask",
      priced: "refused",
      unknown: "refused",
      refused: "refused",
      busy: "1 s, ask",
      silent: "1 s, ask",
    },
    ask: {
      // The answer is about another act, so the request itself is repeated.
      settled: "pay",
      pending: "30 s, ask",
      priced: "pay",
      unknown: "pay",
      refused: "pay",
      busy: "1 s, ask",
      silent: "1 s, ask",
    },
  }
  const all = (["price", "pay", "ask"] as const).flatMap((state) =>
    (Object.keys(answers) as ReadonlyArray<Event>).map((event) => [state, event] as const),
  )

  it.each(all)("goes on from %s after an answer that is %s", async (state, event) => {
    const { end, log } = await run([answers[event], answers.refused], program, start[state])
    assert.strictEqual(log[0], state)
    const next = log.slice(1, log.findIndex((one, at) => at > 0 && /^(?:price|pay|ask)$/u.test(one)) + 1 || undefined)
    assert.strictEqual(next.length === 0 ? end.end : next.join(", "), cells[state][event])
  })

  it("ends by the outcome of its own key, whatever that says", async () => {
    const { end, log } = await run([answers.settled], program, { ...start.ask, ownsKey: true })
    assert.deepStrictEqual([end.end, log], ["misrecorded", ["ask"]])
  })

  it("tells an unsigned buyer at once that nothing is sold, and follows a signed one", async () => {
    for (const code of ["payments_unavailable", "selling_paused"]) {
      const unsigned = await run([no(503, code)], program)
      assert.deepStrictEqual([unsigned.end.end, unsigned.log], ["refused", ["price"]], code)
      assert.deepStrictEqual((await run([no(503, code)], program, start.pay)).log.slice(0, 3), ["pay", "1 s", "ask"])
    }
  })

  it("waits as long as a proxy says, and never less than a second", async () => {
    const proxy = () => new Response("<h1>Down</h1>", { status: 503, headers: { "retry-after": "120" } })
    assert.deepStrictEqual((await run([proxy, answers.refused], program)).log, ["price", "120 s", "price"])
    const { log } = await run([answers.silent], program, start.pay)
    const waits = log.filter((one) => one.endsWith(" s"))
    assert.deepStrictEqual(waits, ["1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s", "10 s"])
  })

  it("gives up after some requests without an outcome, and a page after forty of any kind", async () => {
    const requests = ({ log }: Awaited<ReturnType<typeof run>>) => log.filter((one) => /^[a-z]+$/u.test(one)).length
    const signed = await run([answers.silent], program, start.pay)
    assert.deepInclude(signed.end, { end: "open", isSigned: true })
    assert.strictEqual(requests(signed), 11)
    assert.strictEqual(requests(await run([answers.silent], program)), 3)
    assert.strictEqual(requests(await run([answers.silent], page)), 1)
    assert.strictEqual(requests(await run([answers.pending], page, start.pay)), 40)
  })
})
