/** The witnesses of the log: each is asked for its signature, and none is needed for a checkpoint to be published. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseCosignature } from "../../schema/log/Checkpoint.ts"
import { parseNote } from "../../schema/log/Note.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { type Asked, type Held, make, type NotWitnessed, usualPatience } from "./LogWitness.ts"
import { cosignatureVerifier, logVerifier, type Verifier } from "./Verifier.ts"

/** The policy names a key that is none; the sentence says which. */
export class WitnessPolicyInvalid extends Schema.TaggedError<WitnessPolicyInvalid>()("WitnessPolicyInvalid", {
  message: Schema.String,
}) {}

/** A witness that signed a checkpoint. */
export interface Cosigned {
  /** What its key is called, and the key. */
  readonly name: string
  readonly vkey: string
  /** Since 1970, by its clock. */
  readonly seconds: number
}

export interface Answers {
  readonly lines: string
  readonly held: ReadonlyArray<Held>
}

/** After a failure a witness rests, ms: twice as long each time, up to a minute. */
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
    /** How many there are, and whether those who signed are enough. */
    readonly policy: Option.Option<Policy>
    /** Who signed under a note; nothing where a signature under a known key is wrong. */
    readonly cosigned: (note: string) => Option.Option<ReadonlyArray<Cosigned>>
    /** Whether a signature is missing under a note, and it is time to ask for it. */
    isDue(note: string): Effect.Effect<boolean>
    /** What those hold who have not been heard yet since this server started; who does not answer is asked again later. */
    readonly recall: Effect.Effect<ReadonlyArray<Held>>
    /** Whether one of them has been heard since this server started; also where there is none to be asked. */
    readonly isAnyHeard: Effect.Effect<boolean>
    /** Signature lines of those who sign it now; and what those hold who think that it is not what they signed before. */
    cosign(asked: Asked): Effect.Effect<Answers>
    /** The same of all who signed this log before, whether their signature is under it or not. */
    vouch(asked: Asked): Effect.Effect<Answers>
  }
>()("spirit-altar/log/Witnesses") {
  static readonly none = Layer.sync(Witnesses, () => noWitnesses)

  /** Those of a policy, for the log with this verifier key; each is waited for so many ms. */
  static readonly layer = (policy: Policy, vkey: string, patience: number = usualPatience) =>
    Layer.effect(
      Witnesses,
      Effect.gen(function* () {
        const valid = (verifier: Verifier | Malformed) =>
          verifier instanceof Malformed
            ? Effect.fail(new WitnessPolicyInvalid({ message: verifier.message }))
            : Effect.succeed(verifier)
        const log = yield* valid(logVerifier(vkey))
        const verifiers = yield* Effect.forEach(policy.witnesses, (one) => valid(cosignatureVerifier(one.vkey)))
        const asking = yield* Effect.forEach(
          policy.witnesses.flatMap(({ name, url }, at) => {
            const verifier = verifiers[at]
            return url === undefined || verifier === undefined ? [] : [{ name, url, verifier }]
          }),
          ({ name, url, verifier }) =>
            Effect.map(make(name, url, verifier, log, patience), (witness) => ({
              witness,
              rest: 0,
              restsUntil: 0,
              /** It has said what it holds, or has signed, which it does only for what continues that. */
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
            yield* Effect.logWarning(
              `The log witness ${one.witness.name} does not sign: ${message}. It is asked again.`,
            )
          }
          one.rest = longer(one.rest)
          one.restsUntil = (yield* Clock.currentTimeMillis) + one.rest
          const { name } = one.witness
          const held = isDoubt ? yield* Effect.orElseSucceed(one.witness.held, () => Option.none()) : Option.none()
          return { lines: "", held: Option.toArray(held).map((checkpoint) => ({ witness: name, checkpoint })) }
        })

        const ask = (how: "cosign" | "vouch", one: (typeof asking)[number], asked: Asked) =>
          one.witness[how](asked).pipe(
            Effect.tap(() => {
              one.isHeard = true
              if (one.rest === 0) return Effect.void
              one.rest = 0
              return Effect.logInfo(`The log witness ${one.witness.name} signs again.`)
            }),
            Effect.map((lines) => ({ lines, held: new Array<Held>() })),
            Effect.catch((error) => failed(one, error)),
          )

        const askAll = Effect.fnUntraced(function* (
          how: "cosign" | "vouch",
          some: ReadonlyArray<(typeof asking)[number]>,
          asked: Asked,
        ) {
          const answers = yield* Effect.forEach(some, (one) => ask(how, one, asked), { concurrency: "unbounded" })
          return { lines: answers.map(({ lines }) => lines).join(""), held: answers.flatMap(({ held }) => held) }
        })

        const hear = Effect.fnUntraced(
          function* (one: (typeof asking)[number]) {
            const held = yield* one.witness.held
            one.isHeard = true
            return Option.toArray(held).map((checkpoint): Held => ({ witness: one.witness.name, checkpoint }))
          },
          (hearing, one) =>
            Effect.catch(
              hearing,
              Effect.fnUntraced(function* ({ message }) {
                if (one.recallRest === 0) {
                  yield* Effect.logWarning(
                    `The log witness ${one.witness.name} does not say what it signed: ${message}. It is asked again.`,
                  )
                }
                one.recallRest = longer(one.recallRest)
                one.recallAt = (yield* Clock.currentTimeMillis) + one.recallRest
                return new Array<Held>()
              }),
            ),
        )

        const recall = Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const unheard = asking.filter(
            ({ isHeard, recallAt, restsUntil }) => !isHeard && Math.max(recallAt, restsUntil) <= now,
          )
          const held = yield* Effect.forEach(unheard, (one) => hear(one), { concurrency: "unbounded" })
          return held.flat()
        }).pipe(Effect.withSpan("Witnesses.recall"))

        return Witnesses.of({
          policy: Option.some(policy),
          cosigned,
          recall,
          isAnyHeard: Effect.sync(() => asking.length === 0 || asking.some(({ isHeard }) => isHeard)),
          isDue: (note) => Effect.map(due(note), (some) => some.length > 0),
          cosign: Effect.fn("Witnesses.cosign")(function* (asked: Asked) {
            return yield* askAll("cosign", yield* due(asked.note), asked)
          }),
          vouch: Effect.fn("Witnesses.vouch")(function* (asked: Asked) {
            const now = yield* Clock.currentTimeMillis
            const rested = asking.filter(({ restsUntil }) => restsUntil <= now)
            return yield* askAll("vouch", rested, asked)
          }),
        })
      }),
    )
}

/** A log that nobody beside it signs. */
export const noWitnesses: Witnesses["Service"] = {
  policy: Option.none(),
  cosigned: (note) => cosignedOf([], note),
  isDue: () => Effect.succeed(false),
  recall: Effect.succeed([]),
  isAnyHeard: Effect.succeed(true),
  cosign: () => Effect.succeed({ lines: "", held: [] }),
  vouch: () => Effect.succeed({ lines: "", held: [] }),
}

/** Whether those who signed under a note are as many as the policy asks for; always, where there is none. */
export const isWitnessed = ({ cosigned, policy }: Witnesses["Service"], note: string): boolean =>
  Option.isNone(policy) ||
  policy.value.isMet(new Set(Option.getOrElse(cosigned(note), () => []).map(({ vkey }) => vkey)))
