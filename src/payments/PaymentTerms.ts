/** The price, token and recipient of every 402 offer, or the names of missing settings. */
import { Context, Layer, type Schema } from "effect"
import type { Address } from "../../schema/Common.ts"
import type { BazaarExtension, Challenge, PaymentRequirements } from "../../schema/payments/Payment.ts"
import { bazaarOf } from "./settle/Bazaar.ts"
import type { SoldAct } from "./Act.ts"
import { paymentIdentifier, requestBinding } from "./verify/Header.ts"

/** The recipient and token of payments, shared by all servers of one altar. */
export interface Terms {
  /** CAIP-2, `eip155:<chain id>`. */
  readonly network: `eip155:${number}`
  readonly asset: Address
  /** EIP-712 domain of the asset. */
  readonly assetName: string
  readonly assetVersion: string
  readonly payTo: Address
  /** The lifetime of a client's authorization in seconds. 300 more are accepted because clocks differ. */
  readonly maxTimeoutSeconds: number
  /** The settling party, in words for the catalogs. */
  readonly settledBy: string
  /** Whether the facilitator catalogues routes by the extensions of their payments. */
  readonly isCatalogued: boolean
  /** Whether the token is play money that its faucet gives away. */
  readonly isPlayMoney?: boolean
  /** Explorer page of a transaction. `{tx}` is replaced by its hash. */
  readonly explorer: string
}

export { usdc, type UsdcNetwork } from "../../schema/payments/Usdc.ts"

/** A sale: price in atomic USDC, the canonical URL and a description for the wallet's owner. */
export interface Sale {
  readonly amountAtomic: bigint
  readonly url: string
  readonly description: string
  /** SHA-256 of the request's canonical body, hex; absent where no payment is judged. */
  readonly bodySha256?: string
  /** Describes the call for a catalogue; absent when only an earlier attempt is meant. */
  readonly bazaar?: () => BazaarExtension | undefined
}

/** An act sold at one URL, with the URL's path and query parameters. */
export const saleOf = (act: SoldAct, url: string, parameters: Schema.JsonObject): Sale => ({
  amountAtomic: act.priceAtomic,
  url,
  description: act.description,
  bazaar: () => bazaarOf(act, parameters),
})

export const requirementsOf = (terms: Terms, amountAtomic: bigint): PaymentRequirements => ({
  scheme: "exact",
  network: terms.network,
  amount: amountAtomic.toString(),
  asset: terms.asset,
  payTo: terms.payTo,
  maxTimeoutSeconds: terms.maxTimeoutSeconds,
  extra: { name: terms.assetName, version: terms.assetVersion, paymentFlow: "upfront" },
})

/** The description of an offer, with the address of the refund policy. */
const described = ({ description, url }: Sale) => `${description}. Refunds: ${new URL(url).origin}/.well-known/x402`

/** The extension is only sent to a cataloguing facilitator: proxies limit a whole head to 4 KB by default. */
export const challengeOf = (terms: Terms, sale: Sale, error: string): Challenge => {
  const bazaar = terms.isCatalogued ? sale.bazaar?.() : undefined
  return {
    x402Version: 2,
    error,
    resource: { url: sale.url, description: described(sale), mimeType: "application/json" },
    accepts: [requirementsOf(terms, sale.amountAtomic)],
    extensions: {
      "payment-identifier": paymentIdentifier,
      "request-binding": requestBinding,
      ...(bazaar === undefined ? {} : { bazaar }),
    },
  }
}

export type Rails = ReadonlyArray<"x402" | "card">

export class PaymentTerms extends Context.Service<
  PaymentTerms,
  | { readonly _tag: "Ready"; readonly terms: Terms; readonly rails: Rails }
  | { readonly _tag: "NotConfigured"; readonly missing: ReadonlyArray<string> }
>()("spirit-altar/payments/PaymentTerms") {
  static readonly ready = (terms: Terms, rails: Rails) =>
    Layer.succeed(PaymentTerms, PaymentTerms.of({ _tag: "Ready", terms, rails }))
  static readonly notConfigured = (missing: ReadonlyArray<string>) =>
    Layer.succeed(PaymentTerms, PaymentTerms.of({ _tag: "NotConfigured", missing }))
}
