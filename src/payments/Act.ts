/** An act as a purchase sees it. */
import { Context, Effect, Result, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { SqlError } from "effect/sql"
import { BadRequest } from "../../schema/Errors.ts"
import { isJsonObject } from "../../schema/Json.ts"
import type { Held } from "../../schema/payments/Held.ts"
import { bodyOf, type InputOf, namesOf, type PaidEndpoint, type Sale } from "../../schema/payments/Sale.ts"
import type { Refusal } from "../../schema/Refusal.ts"
import { issuesOf } from "../platform/Issues.ts"

const strict = { onExcessProperty: "error", errors: "all" } as const

/** The type of an endpoint's schemas allows services. No schema of the contract needs one. */
const isPlain = (schema: Schema.Top | undefined): schema is Schema.Top & Schema.Decoder<unknown> => schema !== undefined

const whole = (json: Schema.JsonObject) => json

const membersOf = (names: ReadonlySet<string>, areThese: boolean) => (json: Schema.JsonObject) =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.has(name) === areThese))

export const sentBody = ({ params, query }: PaidEndpoint, input: Schema.JsonObject) =>
  membersOf(new Set([params, query].flatMap(namesOf)), false)(input)

/** Reads the input of an endpoint from JSON and reports every issue. The body's schema rejects unknown members. */
export const inputOf = <Endpoint extends PaidEndpoint>(endpoint: Endpoint) => {
  const parameters = [endpoint.params, endpoint.query].filter(isPlain)
  const body = [bodyOf(endpoint) ?? Schema.Struct({})].filter(isPlain)
  const outside = new Set(parameters.flatMap(namesOf))
  const parts = [
    ...parameters.map((schema) => ({ schema, pick: membersOf(new Set(namesOf(schema)), true) })),
    ...body.map((schema) => ({ schema, pick: outside.size === 0 ? whole : membersOf(outside, false) })),
  ].map(({ pick, schema }) => ({ pick, decode: Schema.decodeUnknownResult(schema, strict) }))
  return (json: Schema.Json): Effect.Effect<InputOf<Endpoint>, BadRequest> => {
    const members = isJsonObject(json) ? json : {}
    const decoded = parts.map(({ decode, pick }) => decode(pick(members)))
    const issues = decoded.flatMap((part) => (Result.isFailure(part) ? issuesOf(part.failure) : []))
    if (issues.length > 0) return Effect.fail(new BadRequest({ issues: issues.slice(0, 20) }))
    // An endpoint does not keep the types of its schemas. Its parts add up to the input type.
    return Effect.succeed(Object.assign({}, ...decoded.map(Result.getOrThrow)))
  }
}

export interface Acceptance {
  readonly millis: number
  readonly day: string
}

/** Unique keys an attempt holds before it may be paid, permanently once it is settled. */
export interface Claims {
  readonly slots: ReadonlyArray<string>
  /** At most `capacity` attempts hold a number of this pool, from 1. Released numbers are assigned again. */
  readonly pool?: { readonly name: string; readonly capacity: number }
}

/** A claim that another attempt holds. `settled` means permanently; otherwise it is released by `heldUntil`, or settled. */
export type ClaimConflict = Held & {
  readonly name: string
} & ({ readonly _tag: "Slot"; readonly settled: boolean } | { readonly _tag: "Pool" })

/** The member of a refusal that says how long a claim is held at most. */
export const heldBy = ({ heldUntil }: Held): Held => (heldUntil === undefined ? {} : { heldUntil })

export interface OnChain {
  readonly payer: `0x${string}`
  readonly transaction: `0x${string}`
}

/** A card payment reveals no payer. */
export type Payer = OnChain | { readonly payer: null; readonly transaction: null }

export type Paid<Input, By extends Payer = OnChain> = By & {
  readonly id: string
  readonly input: Input
  /** The number from the pool, if the act claims one. */
  readonly number: number | null
  /** RFC 3339 UTC with milliseconds. */
  readonly acceptedAt: string
  /** The same by the database's clock, when it is recorded. */
  readonly settledAt: string
}

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

export interface SoldAct extends Sale {
  readonly endpoint: PaidEndpoint
}

/** Refusals before payment: those its endpoint declares, and a malformed request. */
export type RefusalOf<Endpoint extends PaidEndpoint> = HttpApiEndpoint.Error<Endpoint>["Type"] | BadRequest

/** An act with claims also names the refusal for a claim that another attempt holds. */
type Claiming<Input, Refusal> =
  | {
      readonly claims: (input: Input, at: Acceptance) => Claims
      readonly conflict: (conflict: ClaimConflict) => Refusal
    }
  | { readonly claims?: never; readonly conflict?: never }

/** The rules of an act beyond its contract. A `Refusal` (404, 409 or 422) charges nothing. */
export type Behaviour<Input, Refusal, By extends Payer = OnChain> = Claiming<Input, Refusal> & {
  /** The values of its path parameter, if the contract does not list them. */
  readonly targets?: ReadonlyArray<string>
  /** The 404 of a well-formed path that names nothing. */
  readonly checkPath?: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  /** Refusals that need no database. A known key is answered without them. */
  readonly refuse?: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal>
  /** Refusals that read the database beyond the claims, after `refuse`. */
  readonly check?: (input: Input, at: Acceptance) => Effect.Effect<void, Refusal>
  /** Writes the records in order, in the transaction that settles them. Its runner must see conflicts as `SqlError`. */
  readonly record: (paid: ReadonlyArray<Paid<Input, By>>) => Effect.Effect<ReadonlyArray<Recorded>, SqlError.SqlError>
}

export interface ActRequest<Refusal> {
  readonly input: Schema.Json
  readonly claims: Claims
  /** All refusals of the act itself. Only an unknown key runs them. */
  readonly check: Effect.Effect<void, Refusal>
}

export interface PaidAct<Refusal> extends SoldAct {
  readonly targets: ReadonlyArray<string> | undefined
  readonly checkPath: (parameters: Schema.JsonObject) => Effect.Effect<void, Refusal>
  readonly requestOf: (request: Schema.Json, at: Acceptance) => Effect.Effect<ActRequest<Refusal>, BadRequest>
  readonly conflict: (conflict: ClaimConflict) => Refusal
  readonly record: (
    paid: ReadonlyArray<Paid<Schema.Json, Payer>>,
  ) => Effect.Effect<ReadonlyArray<Recorded>, SqlError.SqlError>
}

/** Fails with the act's refusal of the first claim that another attempt holds. */
export const refuseConflicts = <Refusal>(act: PaidAct<Refusal>, [conflict]: ReadonlyArray<ClaimConflict>) =>
  conflict === undefined ? Effect.void : Effect.fail(act.conflict(conflict))

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
    requestOf: (request, at) =>
      Effect.map(decode(request), (input) => ({
        input: request,
        claims: claims?.(input, at) ?? { slots: [] },
        check: Effect.andThen(refuse?.(input, at) ?? Effect.void, check?.(input, at) ?? Effect.void),
      })),
    // An act without claims has no conflicts.
    conflict: conflict ?? (({ name }) => new BadRequest({ issues: [{ path: "", message: `${name} is held` }] })),
    record: (paid) =>
      Effect.forEach(paid, ({ acceptedAt, id, input, number, settledAt, ...payer }) =>
        Effect.zipWith(Effect.orDie(decode(input)), paidBy(payer), (typed, by) => ({
          ...by,
          acceptedAt,
          id,
          number,
          settledAt,
          input: typed,
        })),
      ).pipe(Effect.flatMap(record)),
  }
}

const onChain = (payer: Payer): Effect.Effect<OnChain> =>
  payer.payer === null ? Effect.die("this act is not sold for cards") : Effect.succeed(payer)

/** The act of an endpoint that is paid on chain only. */
export const paidAct = <const Endpoint extends PaidEndpoint>(
  endpoint: Endpoint,
  behaviour: Behaviour<InputOf<Endpoint>, RefusalOf<Endpoint>>,
): ActOf<Endpoint> => make(endpoint, behaviour, onChain)

/** The act of an endpoint whose record does not depend on payer or rail. */
export const cardAct = <const Endpoint extends PaidEndpoint>(
  endpoint: Endpoint,
  behaviour: Behaviour<InputOf<Endpoint>, RefusalOf<Endpoint>, Payer>,
): ActOf<Endpoint> => make(endpoint, behaviour, Effect.succeed)

/** All acts of this server by name. The list is in `src/altar/Acts.ts`. */
export class PaidActs extends Context.Service<PaidActs, ReadonlyMap<string, PaidAct<Refusal>>>()(
  "spirit-altar/payments/PaidActs",
) {}

export const actsByName = (acts: ReadonlyArray<PaidAct<Refusal>>): ReadonlyMap<string, PaidAct<Refusal>> =>
  new Map(acts.map((act) => [act.name, act]))

type Texts = Readonly<Record<string, string>>

/** Path and query parameters are texts: a decoded value is the text of the URL. */
const textsOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))

/** The path below the public URL, with query parameters in the order of the contract, and all parameters. */
export const addressOf = (path: string, call: { readonly params?: unknown; readonly query?: unknown }) => {
  const [named, searched] = [textsOf(call.params ?? {}), textsOf(call.query ?? {})]
  return { path: filled(path, named, searched), parameters: { ...named, ...searched } }
}

/** Fills a path template of the contract. Every path shown to clients is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
