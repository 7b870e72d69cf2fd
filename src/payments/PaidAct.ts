/** An act as a value: all that the payment pipeline needs to know of it, and no more. */
import { Context, Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { BadRequest } from "../../schema/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"

/** When a request was accepted. */
export interface Acceptance {
  readonly millis: number
  /** The UTC day, `YYYY-MM-DD`. */
  readonly day: string
}

/** What an attempt has to hold before it may be paid, as unique keys: for ever once it is settled. */
export interface Claims {
  readonly slots: ReadonlyArray<string>
  /** At most `capacity` attempts hold a number of this pool; numbers start at 1, released ones go out again. */
  readonly pool?: { readonly name: string; readonly capacity: number }
}

/** A claim another attempt holds; `settled` when it holds it for ever, otherwise it may still be released. */
export type Loss =
  | { readonly _tag: "Slot"; readonly name: string; readonly settled: boolean }
  | { readonly _tag: "Pool"; readonly name: string }

/** Who paid, and where that can be seen. */
export interface OnChain {
  readonly payer: `0x${string}`
  readonly transaction: `0x${string}`
}

/** A card shows nobody who held it. */
export type Payer = OnChain | { readonly payer: null; readonly transaction: null }

/** A settled attempt about to be recorded. */
export type Paid<Input, By extends Payer = OnChain> = By & {
  readonly id: string
  readonly input: Input
  /** The number drawn from the pool, if the act claims one. */
  readonly number: number | null
  /** RFC 3339 UTC with milliseconds. */
  readonly acceptedAt: string
}

/** What an act wrote: its public record and where a person finds it. */
export interface Recorded {
  readonly record: Schema.JsonObject
  /** Path below the public URL. */
  readonly path: string
  readonly agentName: string | null
  /** When the act happened, RFC 3339 UTC with milliseconds. */
  readonly at: string
  /** Further members of the answer, such as the line of a prayer. */
  readonly extra?: Schema.JsonObject
}

type RecordError = SqlError.SqlError | Schema.SchemaError

/** What everyone may know of an act: prices, routes and policies everywhere are read from here. */
export interface ActFace {
  /** Unique, `lightDay`. */
  readonly name: string
  /** Method and path template, as in the price list. */
  readonly route: string
  /** What the spend policy calls it, when several acts share a name there. */
  readonly action?: string
  /** How long what is bought lasts, if it ends. */
  readonly days?: number
  /** Atomic USDC. */
  readonly priceAtomic: bigint
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** Whether a request without a body is complete. */
  readonly bodyOptional: boolean
  /** Whether it is sold for cards, too, where the server takes them. */
  readonly cards?: boolean
}

/**
 * How an act is written down; `input` holds path and query parameters together with the body, `Refusal` is
 * what its own rules answer before payment: 404, 409 and 422, nothing charged.
 */
export interface ActDefinition<Input, Refusal, By extends Payer = OnChain> extends ActFace {
  readonly input: Schema.Codec<Input, Schema.Json>
  /** The 404 of a path whose parameters have the right form but name nothing. */
  readonly locate?: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  /** Refusals that need no database. */
  readonly refuse: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal>
  /** Refusals that need a look at the database beyond the claims. */
  readonly check?: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal | SqlError.SqlError>
  readonly claims: (input: Input, at: Acceptance) => Claims
  readonly lost: (loss: Loss) => Refusal
  /** Writes the records, in order, inside the transaction that settles them. */
  readonly record: (paid: ReadonlyArray<Paid<Input, By>>) => Effect.Effect<ReadonlyArray<Recorded>, RecordError>
}

/** A request that an act has read and not refused. */
export interface ActRequest<Refusal> {
  readonly input: Schema.Json
  readonly claims: Claims
  readonly check: Effect.Effect<void, Refusal | SqlError.SqlError>
}

/** An act as the pipeline sees it: the type of its input is its own affair. */
export interface PaidAct<Refusal> extends ActFace {
  readonly locate: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  readonly read: (request: Schema.Json, at: Acceptance) => Effect.Effect<ActRequest<Refusal>, BadRequest | Refusal>
  readonly lost: (loss: Loss) => Refusal
  readonly record: (
    paid: ReadonlyArray<Paid<Schema.Json, Payer>>,
  ) => Effect.Effect<ReadonlyArray<Recorded>, RecordError>
}

const make = <Input, Refusal, By extends Payer>(
  act: ActDefinition<Input, Refusal, By>,
  paidBy: (payer: Payer) => Effect.Effect<By>,
): PaidAct<Refusal> => {
  const decode = Schema.decodeUnknownEffect(act.input, { onExcessProperty: "error", errors: "all" })
  const { check, claims, input: _, locate, refuse, record, ...face } = act
  return {
    ...face,
    locate: locate ?? (() => Effect.void),
    read: (request, at) =>
      decode(request).pipe(
        Effect.mapError((error) => new BadRequest({ issues: issuesOf(error) })),
        Effect.tap((input) => refuse(input, at)),
        Effect.map((input) => ({
          input: request,
          claims: claims(input, at),
          check: check?.(input, at) ?? Effect.void,
        })),
      ),
    record: (paid) =>
      Effect.forEach(paid, ({ acceptedAt, id, input, number, ...payer }) =>
        Effect.zipWith(decode(input), paidBy(payer), (read, by) => ({ ...by, acceptedAt, id, number, input: read })),
      ).pipe(Effect.flatMap(record)),
  }
}

const onChain = (payer: Payer): Effect.Effect<OnChain> =>
  payer.payer === null ? Effect.die("this act is not sold for cards") : Effect.succeed(payer)

/** An act that is paid on chain alone. */
export const paidAct = <Input, Refusal>(act: ActDefinition<Input, Refusal>): PaidAct<Refusal> => make(act, onChain)

/** An act whose record is the same whoever paid for it, and however. */
export const cardAct = <Input, Refusal>(act: ActDefinition<Input, Refusal, Payer>): PaidAct<Refusal> =>
  make(act, Effect.succeed)

/** All acts of this altar by name; the one list is in `src/altar/Acts.ts`. */
export class PaidActs extends Context.Service<PaidActs, ReadonlyMap<string, PaidAct<unknown>>>()(
  "spirit-altar/payments/PaidActs",
) {}
