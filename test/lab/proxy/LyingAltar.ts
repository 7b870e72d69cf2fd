/** A real altar behind a proxy at its public URL, which forges settled answers: a buyer's own evidence. */
import { Context, Effect, Layer } from "effect"
import { sandbox } from "../browser/Guide.ts"
import { freePort } from "../Ports.ts"
import { type Handle, open } from "./HttpServer.ts"

/** The parts of a settled answer that are forged in place. */
export interface Answered {
  record: Record<string, unknown>
  receipt: Record<string, unknown>
  permalink: string
  /** The content of `PAYMENT-RESPONSE`. */
  header: Record<string, unknown>
}

export type Lie = (answered: Answered) => void

export class LyingAltar extends Context.Service<LyingAltar, { readonly tells: (lie: Lie | undefined) => void }>()(
  "test/LyingAltar",
) {}

const other = { address: `0x${"9".repeat(40)}`, hash: `0x${"7".repeat(64)}`, digest: "ab".repeat(32) }
const elsewhere = "https://evil.example"

const away = (url: unknown) => `${elsewhere}${new URL(String(url)).pathname}`

/** The forgeries of a stone: the field that is reported, and the change. */
export const lies: ReadonlyArray<readonly [what: string, field: string, lie: Lie]> = [
  ["the kind", "kind", ({ record }) => void (record["kind"] = "promise")],
  ["the commitment", "commitment", ({ record }) => void (record["commitment"] = other.digest)],
  ["the spirit", "spirit", ({ record }) => void (record["spirit"] = "ribbon-eel")],
  ["the amount", "amountAtomic", ({ receipt }) => void (receipt["amountAtomic"] = "9000000")],
  ["the price", "priceUsd", ({ receipt }) => void (receipt["priceUsd"] = "$9.00")],
  ["the asset", "asset", ({ receipt }) => void (receipt["asset"] = other.address)],
  ["the network", "network", ({ receipt }) => void (receipt["network"] = "eip155:8453")],
  ["the recipient", "payTo", ({ receipt }) => void (receipt["payTo"] = other.address)],
  [
    "the payer, everywhere",
    "payer",
    (answered) => {
      for (const one of [answered.record, answered.receipt, answered.header]) one["payer"] = other.address
    },
  ],
  ["the payer of the record", "record.payer", ({ record }) => void (record["payer"] = other.address)],
  ["the transaction of the receipt", "record.transaction", ({ receipt }) => void (receipt["transaction"] = other.hash)],
  [
    "the transaction, everywhere",
    "chainHash",
    (answered) => {
      for (const one of [answered.record, answered.receipt, answered.header]) one["transaction"] = other.hash
    },
  ],
  [
    "the settlement's header",
    "PAYMENT-RESPONSE transaction",
    ({ header }) => void (header["transaction"] = other.hash),
  ],
  [
    "the origin of the permalink",
    "permalink",
    (answered) => {
      answered.permalink = away(answered.permalink)
      answered.record["permalink"] = answered.permalink
    },
  ],
  ["the id", "permalink", ({ record }) => void (record["id"] = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1")],
  [
    "the URL of the reveal",
    "verify.revealUrl",
    ({ record }) =>
      void (record["verify"] = { ...Object(record["verify"]), revealUrl: away(Object(record["verify"]).revealUrl) }),
  ],
]

/** One field of each part of an answer, for buyers whose comparison is the library's. */
export const forgedFields = ["kind", "priceUsd", "PAYMENT-RESPONSE transaction", "permalink"] as const

export const forgeFields: Lie = (answered) => {
  for (const [, field, lie] of lies) if (forgedFields.some((one) => one === field)) lie(answered)
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")

const forge = (lie: Lie, answer: string, header: string): { readonly body: string; readonly header: string } => {
  const body = JSON.parse(answer)
  const { permalink, receipt, record } = body
  const answered = { permalink, receipt, record, header: JSON.parse(Buffer.from(header, "base64").toString()) }
  lie(answered)
  return {
    body: JSON.stringify({ ...body, permalink: answered.permalink, receipt, record }),
    header: base64(answered.header),
  }
}

/** Passes each request on, and forges the answers that carry a settlement. */
const passing =
  (upstream: number, told: () => Lie | undefined): Handle =>
  async (path, sent, { headers, method = "GET" }) => {
    const { connection: _, host: __, "transfer-encoding": ___, "content-length": ____, ...kept } = headers
    const answer = await fetch(`http://127.0.0.1:${upstream}${path}`, {
      method,
      headers: { ...(kept as Record<string, string>), "accept-encoding": "identity" },
      redirect: "manual",
      ...(sent === "" ? {} : { body: sent }),
    })
    // A typeface is no text.
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const body = Buffer.from(bytes).toString()
    const settlement = answer.headers.get("payment-response")
    const lie = told()
    const forged = lie === undefined || settlement === null ? undefined : forge(lie, body, settlement)
    const passed = Object.fromEntries(
      [...answer.headers].filter(
        ([name]) => !/^(?:transfer-encoding|content-length|connection|keep-alive)$/u.test(name),
      ),
    )
    return {
      status: answer.status,
      body: forged?.body ?? body,
      ...(forged === undefined ? { bytes } : {}),
      headers: { ...passed, ...(forged === undefined ? {} : { "payment-response": forged.header }) },
    }
  }

/** A sandbox whose every answer passes the liar; it tells the truth until it is told a lie. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const [at, port] = [yield* freePort, yield* freePort]
    let current: Lie | undefined
    const liar = Layer.effect(
      LyingAltar,
      Effect.acquireRelease(
        Effect.promise(() =>
          open(
            passing(port, () => current),
            at,
          ),
        ),
        ({ close }) => Effect.sync(close),
      ).pipe(Effect.as({ tells: (lie: Lie | undefined) => void (current = lie) })),
    )
    return Layer.merge(liar, sandbox({ port, publicUrl: `http://127.0.0.1:${at}` }))
  }),
)
