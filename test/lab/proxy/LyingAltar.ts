/** A real altar behind a proxy at its public URL, which forges settled answers: a buyer's own evidence. */
import { Context, Effect, Layer } from "effect"
import { sandbox } from "../browser/Guide.ts"
import { freePort } from "../Ports.ts"
import { forward, type Handle, serve } from "./HttpServer.ts"

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

/** One field of each part of an answer, as it is reported. */
export const forgedFields = ["kind", "priceUsd", "PAYMENT-RESPONSE transaction", "permalink"] as const

export const forgeFields: Lie = (answered) => {
  answered.record["kind"] = "promise"
  answered.receipt["priceUsd"] = "$9.00"
  answered.header["transaction"] = `0x${"7".repeat(64)}`
  answered.permalink = `https://evil.example${new URL(answered.permalink).pathname}`
  answered.record["permalink"] = answered.permalink
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
  async (path, sent, request) => {
    const answer = await forward(`http://127.0.0.1:${upstream}`, path, sent, request)
    const settlement = answer.headers["payment-response"]
    const lie = told()
    if (lie === undefined || settlement === undefined) return { ...answer, body: "" }
    const { body, header } = forge(lie, answer.bytes.toString(), settlement)
    return { status: answer.status, body, headers: { ...answer.headers, "payment-response": header } }
  }

/** A sandbox whose every answer passes the liar; it tells the truth until it is told a lie. */
export const lyingAltar = Layer.unwrap(
  Effect.gen(function* () {
    const [at, port] = [yield* freePort, yield* freePort]
    let current: Lie | undefined
    const liar = Layer.effect(
      LyingAltar,
      Effect.as(
        serve(
          passing(port, () => current),
          at,
        ),
        { tells: (lie: Lie | undefined) => void (current = lie) },
      ),
    )
    return Layer.merge(liar, sandbox({ port, publicUrl: `http://127.0.0.1:${at}` }))
  }),
)
