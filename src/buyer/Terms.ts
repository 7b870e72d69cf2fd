/** The terms that a challenge must name: given by the buyer, recorded before, or published by the altar. */
import { Effect, Option, Schema } from "effect"
import { usdcOn } from "../../schema/payments/Usdc.ts"
import { refuse } from "./PurchaseError.ts"
import type { Policy, Terms } from "./Policy.ts"

const Manifest = Schema.Struct({
  payment: Schema.Struct({ network: Schema.String, asset: Schema.String, payTo: Schema.String }),
})

const announced = (altar: string, send: typeof fetch) =>
  Effect.tryPromise((signal) =>
    send(`${altar}/.well-known/agent.json`, { redirect: "error", signal }).then((response) => response.json()),
  ).pipe(
    Effect.timeout("1 minute"),
    Effect.mapError(() =>
      refuse("unreachable", `${altar} does not answer. Nothing was signed, so nothing was charged.`),
    ),
    Effect.flatMap(Schema.decodeUnknownEffect(Manifest)),
    Effect.map(({ payment }): Terms => payment),
    Effect.catchTag("SchemaError", () =>
      refuse(
        "no_terms",
        `${altar} does not say how it is paid. Name network, asset and payTo yourself. Nothing was signed, so nothing was charged.`,
      ),
    ),
  )

/** An asset that is no known USDC is accepted only if the buyer named it. */
export const expected = Effect.fn("Terms.expected")(function* (
  altar: string,
  policy: Policy,
  kept: Option.Option<Terms>,
  send: typeof fetch,
) {
  const { asset, network, payTo } = policy
  if (network !== undefined && payTo !== undefined) {
    return { network, payTo, asset: asset ?? usdcOn(network) ?? "" } satisfies Terms
  }
  const known = Option.isSome(kept) ? kept.value : yield* announced(altar, send)
  const terms: Terms = {
    network: network ?? known.network,
    payTo: payTo ?? known.payTo,
    asset: asset ?? usdcOn(network ?? known.network) ?? "",
  }
  return terms.asset === ""
    ? yield* refuse(
        "unknown_network",
        `The altar wants to be paid on ${terms.network}, where no USDC is known here. Nothing was signed, so nothing was charged.`,
      )
    : terms
})
