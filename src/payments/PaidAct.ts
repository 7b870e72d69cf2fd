/** An act as a value: all that the payment pipeline needs to know of it, and no more. */
import { Context, Effect, type Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { SqlError } from "effect/sql"
import { BadRequest } from "../../schema/Errors.ts"
import type { PaidEndpoint, Sale } from "../../schema/payments/Sale.ts"
import { inputOf, type InputOf } from "./ActInput.ts"

export interface Acceptance {
  readonly millis: number
  readonly day: string
}

/** What an attempt has to hold before it may be paid, as unique keys: for ever once it is settled. */
export interface Claims {
  readonly slots: ReadonlyArray<string>
  /** At most `capacity` attempts hold a number of this pool; numbers start at 1, released ones go out again. */
  readonly pool?: { readonly name: string; readonly capacity: number }
}

/** A claim another attempt holds; `settled` when it holds it for ever, otherwise it may still be released. */
export type ClaimConflict =
  | { readonly _tag: "Slot"; readonly name: string; readonly settled: boolean }
  | { readonly _tag: "Pool"; readonly name: string }

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
  readonly path: string
  readonly agentName: string | null
  readonly at: string
  /** Further members of the answer, such as the line of a prayer. */
  readonly extra?: Schema.JsonObject
  /** Further members of the signed receipt, such as a stone's place in its chain and log. */
  readonly proven?: Schema.JsonObject
}

/** What everyone may know of an act: the terms of its sale, and the endpoint that sells it. */
export interface SoldAct extends Sale {
  readonly endpoint: PaidEndpoint
}

/** What an act may answer before payment: the refusals its endpoint declares, and a request of the wrong form. */
export type RefusalOf<Endpoint extends PaidEndpoint> = HttpApiEndpoint.Error<Endpoint>["Type"] | BadRequest

/** Who claims something says what is answered when another attempt holds it. */
type Claiming<Input, Refusal> =
  | {
      readonly claims: (input: Input, at: Acceptance) => Claims
      readonly conflict: (conflict: ClaimConflict) => Refusal
    }
  | { readonly claims?: never; readonly conflict?: never }

/** What an act does beyond its contract. `Refusal` charges nothing: 404, 409 and 422 of its own rules. */
export type Behaviour<Input, Refusal, By extends Payer = OnChain> = Claiming<Input, Refusal> & {
  /** The values its path's parameter may have, where the contract does not list them. */
  readonly targets?: ReadonlyArray<string>
  /** The 404 of a path whose parameters have the right form but name nothing. */
  readonly checkPath?: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  /** Refusals that need no database; a key that is known is answered without them. */
  readonly refuse?: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal>
  /** Refusals that need a look at the database beyond the claims; asked after `refuse`. */
  readonly check?: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal>
  /** Writes the records, in order, inside the transaction that settles them: a conflict has to reach its runner. */
  readonly record: (paid: ReadonlyArray<Paid<Input, By>>) => Effect.Effect<ReadonlyArray<Recorded>, SqlError.SqlError>
}

/** A request that an act has read and not yet refused. */
export interface ActRequest<Refusal> {
  readonly input: Schema.Json
  readonly claims: Claims
  /** All that the act itself refuses; asked of a key that is not known alone. */
  readonly check: Effect.Effect<void, Refusal>
}

/** An act as the pipeline sees it: the type of its input is its own affair. */
export interface PaidAct<Refusal> extends SoldAct {
  readonly targets: ReadonlyArray<string> | undefined
  readonly checkPath: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  readonly read: (request: Schema.Json, at: Acceptance) => Effect.Effect<ActRequest<Refusal>, BadRequest>
  readonly conflict: (conflict: ClaimConflict) => Refusal
  readonly record: (
    paid: ReadonlyArray<Paid<Schema.Json, Payer>>,
  ) => Effect.Effect<ReadonlyArray<Recorded>, SqlError.SqlError>
}

export type ActOf<Endpoint extends PaidEndpoint> = PaidAct<RefusalOf<Endpoint>>

const make = <Endpoint extends PaidEndpoint, By extends Payer>(
  endpoint: Endpoint,
  behaviour: Behaviour<InputOf<Endpoint>, RefusalOf<Endpoint>, By>,
  paidBy: (payer: Payer) => Effect.Effect<By>,
): ActOf<Endpoint> => {
  const decode = inputOf(endpoint)
  const { check, checkPath, claims, conflict, record, refuse, targets } = behaviour
  return {
    ...endpoint.sale,
    endpoint,
    targets,
    checkPath: checkPath ?? (() => Effect.void),
    read: (request, at) =>
      Effect.map(decode(request), (input) => ({
        input: request,
        claims: claims?.(input, at) ?? { slots: [] },
        check: Effect.andThen(refuse?.(input, at) ?? Effect.void, check?.(input, at) ?? Effect.void),
      })),
    // An act that claims nothing meets no conflict.
    conflict: conflict ?? ((found) => new BadRequest({ issues: [{ path: "", message: `${found.name} is held` }] })),
    record: (paid) =>
      Effect.forEach(paid, ({ acceptedAt, id, input, number, ...payer }) =>
        Effect.zipWith(Effect.orDie(decode(input)), paidBy(payer), (read, by) => ({
          ...by,
          acceptedAt,
          id,
          number,
          input: read,
        })),
      ).pipe(Effect.flatMap(record)),
  }
}

const onChain = (payer: Payer): Effect.Effect<OnChain> =>
  payer.payer === null ? Effect.die("this act is not sold for cards") : Effect.succeed(payer)

/** The act of an endpoint that is paid on chain alone. */
export const paidAct = <const Endpoint extends PaidEndpoint>(
  endpoint: Endpoint,
  behaviour: Behaviour<InputOf<Endpoint>, RefusalOf<Endpoint>>,
): ActOf<Endpoint> => make(endpoint, behaviour, onChain)

/** The act of an endpoint whose record is the same whoever paid for it, and however. */
export const cardAct = <const Endpoint extends PaidEndpoint>(
  endpoint: Endpoint,
  behaviour: Behaviour<InputOf<Endpoint>, RefusalOf<Endpoint>, Payer>,
): ActOf<Endpoint> => make(endpoint, behaviour, Effect.succeed)

/** All acts of this server by name; the altar's list is in `src/altar/Acts.ts`. */
export class PaidActs extends Context.Service<PaidActs, ReadonlyMap<string, PaidAct<unknown>>>()(
  "spirit-altar/payments/PaidActs",
) {}

export const actsByName = (acts: ReadonlyArray<PaidAct<unknown>>): ReadonlyMap<string, PaidAct<unknown>> =>
  new Map(acts.map((act) => [act.name, act]))
