/** The witnesses of the log. Each is asked for its signature, and a checkpoint is published without any. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseCosignature } from "../../schema/log/Cosignature.ts"
import { parseNote } from "../../schema/log/Note.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { type CosignRequest, type HeldCheckpoint, make, type NotWitnessed, defaultTimeoutMillis } from "./LogWitness.ts"
import { cosignatureVerifier, logVerifier, type Verifier } from "./Verifier.ts"
import { log } from "../platform/LogMessages.ts"

/** The policy names an invalid key; the message says which. */
export class WitnessPolicyInvalid extends Schema.TaggedError<WitnessPolicyInvalid>()("WitnessPolicyInvalid", {
  message: Schema.String,
}) {}

/** A witness that signed a checkpoint. */
export interface Cosigned {
  /** The name of its key. `vkey` is the key. */
  readonly name: string
  readonly vkey: string
  /** Seconds since 1970, by its clock. */
  readonly seconds: number
}

export interface Answers {
  readonly lines: string
  readonly held: ReadonlyArray<HeldCheckpoint>
}

/** Milliseconds before a failed witness is asked again, doubled each time up to a minute. */
const shortestRest = 1_000
const longestRest = 60_000
const longer = (rest: number) => Math.min(longestRest, Math.max(shortestRest, 2 * rest))

const cosignedOf = (witnesses: ReadonlyArray<Verifier>, note: string): Option.Option<ReadonlyArray<Cosigned>> => {
  const parsed = parseNote(note)
  if (parsed instanceof Malformed) return Option.none()
  const found = witnesses.flatMap((verifier) =>
    parsed.signatures.filter(verifier.isNamed).map((signature) => ({ verifier, signature })),
  )
  if (!found.every(({ signature, verifier }) => verifier.holds(parsed.text, signature))) return Option.none()
  return Option.some(
    found.flatMap(({ signature, verifier: { name, vkey } }) => {
      const cosignature = parseCosignature(signature.bytes)
      return cosignature instanceof Malformed ? [] : [{ name, vkey, seconds: cosignature.seconds }]
    }),
  )
}

export class Witnesses extends Context.Service<
  Witnesses,
  {
    /** The witnesses and the quorum that they have to reach. */
    readonly policy: Option.Option<Policy>
    /** The signers under a note; none when a signature of a known key is invalid. */
    readonly cosigned: (note: string) => Option.Option<ReadonlyArray<Cosigned>>
    /** Whether a signature is missing under a note and a witness is due to be asked for it. */
    isDue(note: string): Effect.Effect<boolean>
    /**
     * The checkpoints of witnesses not heard since the start; `empty` is the note of the empty log. A witness that does
     * not say what it holds is asked again later.
     */
    recall(empty: string): Effect.Effect<ReadonlyArray<HeldCheckpoint>>
    /** Whether a witness has answered since this server started; true if none can be asked. */
    readonly isAnyHeard: Effect.Effect<boolean>
    /** Signature lines of the witnesses that sign, and the checkpoints of those that hold another history. */
    cosign(asked: CosignRequest): Effect.Effect<Answers>
    /** The same from all witnesses that signed this log before, whether or not the note has their signature. */
    vouch(asked: CosignRequest): Effect.Effect<Answers>
  }
>()("spirit-altar/log/Witnesses") {
  static readonly none = Layer.sync(Witnesses, () => noWitnesses)

  /** The witnesses of a policy, for the log with this verifier key, with a timeout of `patience` ms each. */
  static readonly layer = (policy: Policy, vkey: string, patience: number = defaultTimeoutMillis) =>
    Layer.effect(
      Witnesses,
      Effect.gen(function* () {
        const valid = (verifier: Verifier | Malformed) =>
          verifier instanceof Malformed
            ? Effect.fail(new WitnessPolicyInvalid({ message: verifier.message }))
            : Effect.succeed(verifier)
        const ownVerifier = yield* valid(logVerifier(vkey))
        const verifiers = yield* Effect.forEach(policy.witnesses, (one) => valid(cosignatureVerifier(one.vkey)))
        const asking = yield* Effect.forEach(
          policy.witnesses.flatMap(({ name, url }, at) => {
            const verifier = verifiers[at]
            return url === undefined || verifier === undefined ? [] : [{ name, url, verifier }]
          }),
          ({ name, url, verifier }) =>
            Effect.map(make(name, url, verifier, ownVerifier, patience), (witness) => ({
              witness,
              rest: 0,
              restsUntil: 0,
              /** Whether it has shown its checkpoint or has signed, which it does only for a continuation. */
              isHeard: false,
              recallRest: 0,
              recallAt: 0,
            })),
        )

        const cosigned = (note: string) => cosignedOf(verifiers, note)

        const due = Effect.fnUntraced(function* (note: string) {
          const now = yield* Clock.currentTimeMillis
          const signed = new Set(Option.getOrElse(cosigned(note), () => []).map((one) => one.vkey))
          return asking.filter(({ restsUntil, witness }) => restsUntil <= now && !signed.has(witness.verifier.vkey))
        })

        const failed = Effect.fnUntraced(function* (one: (typeof asking)[number], { isDoubt, message }: NotWitnessed) {
          if (one.rest === 0) {
            yield* log("log witness not signing", { witness: one.witness.name, reason: message })
          }
          one.rest = longer(one.rest)
          one.restsUntil = (yield* Clock.currentTimeMillis) + one.rest
          const { name } = one.witness
          const held = isDoubt ? yield* Effect.orElseSucceed(one.witness.held, () => Option.none()) : Option.none()
          return { lines: "", held: Option.toArray(held).map((checkpoint) => ({ witness: name, checkpoint })) }
        })

        const ask = (how: "cosign" | "vouch", one: (typeof asking)[number], asked: CosignRequest) =>
          one.witness[how](asked).pipe(
            Effect.tap(() => {
              one.isHeard = true
              if (one.rest === 0) return Effect.void
              one.rest = 0
              return log("log witness signing", { witness: one.witness.name })
            }),
            Effect.map((lines) => ({ lines, held: new Array<HeldCheckpoint>() })),
            Effect.catch((error) => failed(one, error)),
          )

        const askAll = Effect.fnUntraced(function* (
          how: "cosign" | "vouch",
          some: ReadonlyArray<(typeof asking)[number]>,
          asked: CosignRequest,
        ) {
          const answers = yield* Effect.forEach(some, (one) => ask(how, one, asked), { concurrency: "unbounded" })
          return { lines: answers.map(({ lines }) => lines).join(""), held: answers.flatMap(({ held }) => held) }
        })

        const hear = Effect.fnUntraced(
          function* (one: (typeof asking)[number], empty: string) {
            const held = yield* one.witness.recall(empty)
            one.isHeard = true
            return Option.toArray(held).map((checkpoint): HeldCheckpoint => ({ witness: one.witness.name, checkpoint }))
          },
          (hearing, one) =>
            Effect.catch(
              hearing,
              Effect.fnUntraced(function* ({ message }) {
                if (one.recallRest === 0) {
                  yield* log("log witness recall failed", { witness: one.witness.name, reason: message })
                }
                one.recallRest = longer(one.recallRest)
                one.recallAt = (yield* Clock.currentTimeMillis) + one.recallRest
                return new Array<HeldCheckpoint>()
              }),
            ),
        )

        const recall = Effect.fn("Witnesses.recall")(function* (empty: string) {
          const now = yield* Clock.currentTimeMillis
          const unheard = asking.filter(
            ({ isHeard, recallAt, restsUntil }) => !isHeard && Math.max(recallAt, restsUntil) <= now,
          )
          const held = yield* Effect.forEach(unheard, (one) => hear(one, empty), { concurrency: "unbounded" })
          return held.flat()
        })

        return Witnesses.of({
          policy: Option.some(policy),
          cosigned,
          recall,
          isAnyHeard: Effect.sync(() => asking.length === 0 || asking.some(({ isHeard }) => isHeard)),
          isDue: (note) => Effect.map(due(note), (some) => some.length > 0),
          cosign: Effect.fn("Witnesses.cosign")(function* (asked: CosignRequest) {
            return yield* askAll("cosign", yield* due(asked.note), asked)
          }),
          vouch: Effect.fn("Witnesses.vouch")(function* (asked: CosignRequest) {
            const now = yield* Clock.currentTimeMillis
            const rested = asking.filter(({ restsUntil }) => restsUntil <= now)
            return yield* askAll("vouch", rested, asked)
          }),
        })
      }),
    )
}

/** A log without witnesses. */
export const noWitnesses: Witnesses["Service"] = {
  policy: Option.none(),
  cosigned: (note) => cosignedOf([], note),
  isDue: () => Effect.succeed(false),
  recall: () => Effect.succeed([]),
  isAnyHeard: Effect.succeed(true),
  cosign: () => Effect.succeed({ lines: "", held: [] }),
  vouch: () => Effect.succeed({ lines: "", held: [] }),
}

/** Whether the signers under a note meet the policy; true without a policy. */
export const isWitnessed = ({ cosigned, policy }: Witnesses["Service"], note: string): boolean =>
  Option.isNone(policy) ||
  policy.value.isMet(new Set(Option.getOrElse(cosigned(note), () => []).map(({ vkey }) => vkey)))
