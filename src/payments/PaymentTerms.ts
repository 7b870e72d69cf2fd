/** What this server asks to be paid and where to: the offer of every 402, or the names of what is not configured. */
import { Context, Layer, type Schema } from "effect"
import type { Address } from "../../schema/Common.ts"
import type { BazaarExtension, Challenge, PaymentRequirements } from "../../schema/payments/Payment.ts"
import { bazaarOf } from "./x402/settlement/Bazaar.ts"
import type { SoldAct } from "./PaidAct.ts"
import { paymentIdentifier } from "./x402/verification/PaymentHeader.ts"

/** Where payments go. All servers of one altar share these. */
export interface Terms {
  /** CAIP-2, `eip155:<chain id>`. */
  readonly network: `eip155:${number}`
  readonly asset: Address
  /** EIP-712 domain of the asset. */
  readonly assetName: string
  readonly assetVersion: string
  readonly payTo: Address
  /** How long a client may let its authorization live, in seconds; 300 more are forgiven, for wrong clocks. */
  readonly maxTimeoutSeconds: number
  /** Who settles, in words for the catalogs. */
  readonly settledBy: string
  /** Whether whoever settles lists routes in a catalogue by what their payments bring back. */
  readonly isCatalogued: boolean
  /** Explorer page of a transaction; `{tx}` is replaced by its hash. */
  readonly explorer: string
}

export { usdc, type UsdcNetwork } from "../../schema/payments/Usdc.ts"

/** What is being sold: price in atomic USDC, the canonical URL and one line for the wallet's owner. */
export interface Sale {
  readonly amountAtomic: bigint
  readonly url: string
  readonly description: string
  /** How it is called, for a catalogue; absent where only an earlier attempt is spoken of. */
  readonly bazaar?: () => BazaarExtension | undefined
}

/** An act as it is sold at one URL, with the path and query parameters that the URL holds. */
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

/** Proxies keep 4 KB for a whole head by default: how a route is called is said here only to whoever catalogues it. */
export const challengeOf = (terms: Terms, sale: Sale, error: string): Challenge => {
  const bazaar = terms.isCatalogued ? sale.bazaar?.() : undefined
  return {
    x402Version: 2,
    error,
    resource: { url: sale.url, description: sale.description, mimeType: "application/json" },
    accepts: [requirementsOf(terms, sale.amountAtomic)],
    extensions: { "payment-identifier": paymentIdentifier, ...(bazaar === undefined ? {} : { bazaar }) },
  }
}

/** The ways to pay, as `/api/candles` lists them. */
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
