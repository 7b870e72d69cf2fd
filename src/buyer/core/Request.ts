/** A paid request as it is sent: the same bytes under the same key, however often. */
import { bodyOf, type Reply } from "./Outcome.ts"

export interface PaidRequest {
  /** Where it is sent; what a payment for it is bound to. */
  readonly url: string
  /** Idempotency key. */
  readonly key: string
  /** JSON; empty when there is none. */
  readonly body: string
}

/** A payment goes where it was signed for, or nowhere. */
const asked = { method: "POST", redirect: "error" } as const

/** Asks with it, and gives the answer's status, headers and text. */
export type Exchange = (url: string, init: RequestInit) => Promise<Response>

const replyOf = async (response: Response): Promise<Reply> => ({
  status: response.status,
  headers: response.headers,
  body: bodyOf(await response.text()),
})

/** `payment` is the content of `PAYMENT-SIGNATURE`, once there is one. Rejects when nobody answers. */
export const send = async (
  exchange: Exchange,
  { body, key, url }: PaidRequest,
  payment: string | undefined,
): Promise<Reply> =>
  replyOf(
    await exchange(url, {
      ...asked,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "idempotency-key": key,
        ...(payment === undefined ? {} : { "payment-signature": payment }),
      },
      body: body === "" ? null : body,
    }),
  )

/** How the purchase of a key ended, asked of the altar at `altar`: free, and never a payment. */
export const reconcile = async (exchange: Exchange, altar: string, key: string): Promise<Reply> =>
  replyOf(await exchange(`${altar}/api/reconcile/${key}`, { ...asked, headers: { accept: "application/json" } }))
