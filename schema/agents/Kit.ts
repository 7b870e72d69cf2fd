/** The query and answer of `buy_kit`: everything that a buyer's own x402 client needs to pay. */
import { Schema } from "effect"
import { oneOf } from "../Fields.ts"
import { CandleBody, candleActs } from "../altar/Candle.ts"
import { ElementId } from "../altar/Collectible.ts"
import { Address, AtomicAmount, PriceUsd, Url } from "../Common.ts"
import { WhyBody } from "../altar/Keeper.ts"
import { kinds } from "../altar/Sales.ts"
import { Day } from "../altar/Prayer.ts"
import { SpiritId } from "../altar/Spirit.ts"
import { WitnessBody } from "../altar/Witness.ts"

const candleNames = oneOf(Object.values(candleActs).map(({ sale }) => `\`${sale.name}\``))

const listed = (kinds: ReadonlyArray<string>) =>
  kinds
    .map((kind) => `a ${kind}`)
    .join(", ")
    .replace(/, (?=[^,]*$)/u, " and ")

/** The kinds of acts whose spirit is part of the path, or not. */
const withSpirit = (isInPath: boolean) =>
  listed(
    [...kinds].flatMap(([kind, [act]]) =>
      act !== undefined &&
      "spirit" in (act.sale.recorded.members ?? {}) &&
      act.path.includes(":familiarId") === isInPath
        ? [kind]
        : [],
    ),
  )

/** Arguments of `buy_kit` and their meaning for every act. */
const members = {
  spirit: Schema.optionalKey(SpiritId).annotateKey({
    description: `The altar's spirit. Required for ${withSpirit(true)}; optional for ${withSpirit(false)}.`,
  }),
  elementId: Schema.optionalKey(ElementId).annotateKey({ description: "For a collectible only, and required." }),
  day: Schema.optionalKey(Day).annotateKey({ description: "For a prayer only: today in UTC." }),
  commitment: Schema.optionalKey(WitnessBody.fields.commitment).annotateKey({
    description:
      "For a stone and a prayer, required; for a candle, optional. Never send words or salt here: seal them on your side.",
  }),
  kind: WitnessBody.fields.kind,
  dedication: CandleBody.fields.dedication,
  parentId: CandleBody.fields.parentId,
  agentName: WhyBody.fields.agentName.annotateKey({ description: "A public name, self-declared." }),
  reason: WhyBody.fields.reason,
  payer: Schema.optionalKey(Address).annotateKey({
    description: "Your wallet's address, for which the typed data is made.",
  }),
}

/** An argument that only the acts of one server have. */
export interface Argument {
  readonly name: string
  readonly meaning: string
}

/** The arguments of `buy_kit`: the act, the payer, and path, query and body of the act. */
export type KitQuery = { readonly action: string } & { readonly [name: string]: string }

export const kitQuery = (
  actions: ReadonlyArray<string>,
  others: ReadonlyArray<Argument>,
): Schema.Codec<KitQuery, Schema.Json> => {
  const unknown = others.filter(({ name }) => !(name in members))
  return Schema.Struct({
    action: Schema.Literals(actions).annotate({
      description: `The act to buy. A candle is ${candleNames}.`,
    }),
    ...members,
    ...Object.fromEntries(
      unknown.map(({ meaning, name }) => [
        name,
        Schema.optionalKey(Schema.NonEmptyString).annotateKey({ description: meaning }),
      ]),
    ),
  })
}

const Members = Schema.Record(Schema.String, Schema.Json)

/** Everything a paying client needs. Nothing was signed, paid or reserved; `<…>` stands for the buyer's own value. */
export const Kit = Schema.Struct({
  ok: Schema.Literal(true),
  action: Schema.String,
  complete: Schema.Boolean,
  /** Arguments that are still missing. The payment to sign needs them all. */
  missing: Schema.Array(Schema.String),
  request: Schema.Struct({
    method: Schema.Literal("POST"),
    url: Url,
    headers: Schema.Record(Schema.String, Schema.String),
    /** Null for no body. */
    body: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  }),
  price: Schema.Struct({ usd: PriceUsd, amountAtomic: AtomicAmount }),
  /** EIP-712 typed data. Numbers of the message are decimal strings. */
  sign: Schema.optionalKey(Schema.Struct({ how: Schema.String, typedData: Members })),
  /** The JSON of PAYMENT-SIGNATURE, with the signature at `payload.signature`. */
  payment: Schema.optionalKey(Members),
  /** The meaning of each status. */
  outcomes: Schema.Record(Schema.String, Schema.String),
  /** How to make a commitment, where the act takes one. */
  recipe: Schema.optionalKey(Schema.String),
  retry: Schema.String,
  /** URL template. */
  reconcile: Schema.String,
})
export type Kit = typeof Kit.Type
