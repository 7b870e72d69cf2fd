/** Payments bound to their requests, for any x402 shop on an EVM network that publishes `request-binding`. */
import { bindingExtension, bodyText, isMarked, saltBytes } from "../../schema/payments/BindingRecipe.ts"
import { secondsMaximum } from "../../schema/payments/Usdc.ts"
import { boundNonce, boundTo, paymentHeaderOf, typedDataOf } from "./core/Authorization.ts"
import { readHeader } from "./core/Challenge.ts"
import { sha256 } from "./core/Digest.ts"
import { anyMembers, attempt, isMembers, memberAt, type Members, textAt, wholeAt } from "./core/Json.ts"
import type { BindingOffer, BindingOptions, RequestToBind } from "./Library.ts"
import { refuse } from "./PurchaseError.ts"

/** An offer of a transfer by EIP-3009; undefined for any other. */
const offerIn = (value: unknown) =>
  attempt((): BindingOffer | undefined => {
    const offer = anyMembers(value, "The offer")
    const extra = anyMembers(offer["extra"], "extra")
    const { assetTransferMethod = "eip3009" } = extra
    if (assetTransferMethod !== "eip3009") return undefined
    const maxTimeoutSeconds = wholeAt(offer, "maxTimeoutSeconds")
    if (maxTimeoutSeconds > secondsMaximum) return undefined
    textAt(offer, "scheme", /^exact$/u)
    return {
      network: textAt(offer, "network", /^eip155:\d+$/u),
      amount: textAt(offer, "amount", /^(?:0|[1-9]\d{0,77})$/u),
      asset: textAt(offer, "asset", /^0x[0-9a-fA-F]{40}$/u),
      payTo: textAt(offer, "payTo", /^0x[0-9a-fA-F]{40}$/u),
      maxTimeoutSeconds,
      extra: { name: textAt(extra, "name"), version: textAt(extra, "version") },
    }
  })

interface Challenge {
  readonly resource: Members & { readonly url: string }
  readonly extensions: Members
  readonly accepts: ReadonlyArray<unknown>
}

/** The challenge of a shop that reads bound payments; undefined for any other answer. */
const challengeIn = (answer: Response): Challenge | undefined => {
  const challenge = answer.status === 402 ? readHeader(answer.headers.get("payment-required")) : undefined
  const [accepts, extensions, resource] = ["accepts", "extensions", "resource"].map((name) => memberAt(challenge, name))
  const url = memberAt(resource, "url")
  const isOffered =
    memberAt(challenge, "x402Version") === 2 && memberAt(extensions, bindingExtension, "info", "version") === 1
  return isOffered && Array.isArray(accepts) && isMembers(extensions) && isMembers(resource) && typeof url === "string"
    ? { accepts, extensions, resource: { ...resource, url } }
    : undefined
}

const bodyHash = async (body: string) => sha256(bodyText(JSON.parse(body === "" ? "{}" : body)))

/** Derives the nonce of a request; `salt` in base64url. Rejects for a body that is no JSON, and another salt. */
export const bindNonce = async ({ body = "", method = "POST", url }: RequestToBind, salt: string) => {
  const bytes = saltBytes(salt)
  if (bytes === undefined) throw new RangeError("A salt has 16 to 32 bytes in base64url without padding.")
  return boundNonce({ method, url, bodySha256: await bodyHash(body) }, bytes)
}

/** Whether a payment names this request, another one, or none. */
export const checkBinding = async (payment: string, request: RequestToBind): Promise<"bound" | "other" | "unbound"> => {
  const signed = readHeader(payment)
  const nonce = memberAt(signed, "payload", "authorization", "nonce")
  const salt = memberAt(signed, "extensions", bindingExtension, "info", "salt")
  if (typeof nonce !== "string") return "other"
  if (salt === undefined) return isMarked(nonce) ? "other" : "unbound"
  const expected = typeof salt === "string" ? await bindNonce(request, salt).catch(() => undefined) : undefined
  return expected === nonce.toLowerCase() ? "bound" : "other"
}

/** A `fetch` that pays a 402 once, by a transfer that names the request. */
export const bindFetch =
  ({ account, approve, fetch: send = fetch, keep }: BindingOptions): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    const answer = await send(request.clone())
    const challenge = challengeIn(answer)
    if (challenge === undefined) return answer
    const no = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`)
    const { accepts, extensions, resource } = challenge
    const { url } = resource
    if (url !== request.url) throw no("foreign_resource", `The shop asks to pay for ${url}, not for ${request.url}.`)
    for (const accepted of accepts) {
      const offer = offerIn(accepted)
      if (offer === undefined || !(await approve(offer, request.clone()))) continue
      const body = await request.clone().text()
      const bound = await boundTo(challenge, body, request.method).catch(() => {
        throw no("bad_request", "Only a request whose body is JSON, or absent, can be bound.")
      })
      const data = typedDataOf({ accepts: [offer] }, bound, account.address, Date.now())
      const signature = await account.signTypedData(data)
      const payment = paymentHeaderOf({ accepts: [accepted], resource }, bound, data, signature, extensions)
      await keep?.(payment, request.clone())
      const headers = new Headers(request.headers)
      headers.set("payment-signature", payment)
      return send(new Request(request, { headers, redirect: "error" }))
    }
    return answer
  }
