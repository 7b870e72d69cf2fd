/** A paid request: the same bytes under the same key each time it is sent. */
import { bodyOf, type Reply } from "./Outcome.ts"

export interface PaidRequest {
  /** The URL of the request, which a payment is bound to. */
  readonly url: string
  readonly key: string
  /** JSON; empty when there is none. */
  readonly body: string
}

/** A redirect is an error, so a payment reaches only the URL it was signed for. */
const asked = () => ({ method: "POST", redirect: "error", signal: AbortSignal.timeout(120_000) }) as const

export type Exchange = (url: string, init: RequestInit) => Promise<Response>

const replyOf = async (response: Response): Promise<Reply> => ({
  status: response.status,
  headers: response.headers,
  body: bodyOf(await response.text()),
})

/** `payment` is the content of `PAYMENT-SIGNATURE`, once signed. Rejects without an answer within two minutes. */
export const send = async (
  exchange: Exchange,
  { body, key, url }: PaidRequest,
  payment: string | undefined,
): Promise<Reply> =>
  replyOf(
    await exchange(url, {
      ...asked(),
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "idempotency-key": key,
        ...(payment === undefined ? {} : { "payment-signature": payment }),
      },
      body: body === "" ? null : body,
    }),
  )

/** Asks an altar for the outcome of a key; free, and never sends a payment. */
export const reconcile = async (exchange: Exchange, altar: string, key: string): Promise<Reply> =>
  replyOf(await exchange(`${altar}/api/reconcile/${key}`, { ...asked(), headers: { accept: "application/json" } }))
