/** The witnesses of the log. Each is asked for its signature, and a checkpoint is published without any. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseCosignature } from "../../schema/log/Cosignature.ts"
import { parseNote } from "../../schema/log/Note.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { log, type LogMessage } from "../platform/LogMessages.ts"
import { type CosignRequest, type HeldCheckpoint, make, type NotWitnessed, defaultTimeoutMillis } from "./LogWitness.ts"
import { cosignatureVerifier, logVerifier, type Verifier } from "./Verifier.ts"

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

/** Signature lines of the witnesses that sign, and the checkpoints of those that hold another history. */
export interface Answers {
  readonly lines: string
  readonly held: ReadonlyArray<HeldCheckpoint>
}

/** The pause after a failure in ms, doubled each time up to a minute. */
class Rest {
  private length = 0
  private until = 0

  isOver(now: number) {
    return this.until <= now
  }

  /** Whether the failure is the first in a row. */
  begin(now: number) {
    const isFirst = this.length === 0
    this.length = Math.min(60_000, Math.max(1_000, 2 * this.length))
    this.until = now + this.length
    return isFirst
  }

  /** Whether there was a failure. */
  end() {
    const wasFailing = this.length > 0
    this.length = 0
    return wasFailing
  }
}

const cosignedOf = (witnesses: ReadonlyArray<Verifier>, note: string): Option.Option<ReadonlyArray<Cosigned>> => {
  const parsed = parseNote(note)
  if (parsed instanceof Malformed) return Option.none()
  const signatures = witnesses.flatMap((verifier) =>
    parsed.signatures.filter(verifier.isNamed).map((signature) => ({ verifier, signature })),
  )
  if (!signatures.every(({ signature, verifier }) => verifier.holds(parsed.text, signature))) return Option.none()
  return Option.some(
    signatures.flatMap(({ signature, verifier: { name, vkey } }) => {
      const cosignature = parseCosignature(signature.bytes)
      return cosignature instanceof Malformed ? [] : [{ name, vkey, seconds: cosignature.seconds }]
    }),
  )
}

const valid = (verifier: Verifier | Malformed) =>
  verifier instanceof Malformed
    ? Effect.fail(new WitnessPolicyInvalid({ message: verifier.message }))
    : Effect.succeed(verifier)

const silent: Answers = { lines: "", held: [] }

const atOnce = { concurrency: "unbounded" } as const

export class Witnesses extends Context.Service<
  Witnesses,
  {
    /** The witnesses and the quorum that they have to reach. */
    readonly policy: Option.Option<Policy>
    /** The signers under a note; none when a signature of a known key is invalid. */
    readonly cosigned: (note: string) => Option.Option<ReadonlyArray<Cosigned>>
    /**
     * The checkpoints of witnesses not heard since the start; `empty` is the note of the empty log. A witness that does
     * not say what it holds is asked again later.
     */
    recall(empty: string): Effect.Effect<ReadonlyArray<HeldCheckpoint>>
    /** Whether a witness has answered since this server started; true if none can be asked. */
    readonly isAnyHeard: Effect.Effect<boolean>
    /**
     * Asks the witnesses that are due: `cosign` asks those whose signature is missing, `vouch` all that signed this log
     * before.
     */
    sign(how: "cosign" | "vouch", request: CosignRequest): Effect.Effect<Answers>
  }
>()("spirit-altar/log/Witnesses") {
  static readonly none = Layer.sync(Witnesses, () => noWitnesses)

  /** The witnesses of a policy, for the log with this verifier key, with a timeout of `patience` ms each. */
  static readonly layer = (policy: Policy, vkey: string, patience: number = defaultTimeoutMillis) =>
    Layer.effect(
      Witnesses,
      Effect.gen(function* () {
        const ownVerifier = yield* valid(logVerifier(vkey))
        const verifiers = yield* Effect.forEach(policy.witnesses, (witness) => valid(cosignatureVerifier(witness.vkey)))
        const asking = yield* Effect.forEach(
          policy.witnesses.flatMap(({ name, url }, at) => {
            const verifier = verifiers[at]
            return url === undefined || verifier === undefined ? [] : [{ name, url, verifier }]
          }),
          ({ name, url, verifier }) =>
            Effect.map(make(name, url, verifier, ownVerifier, patience), (witness) => ({
              witness,
              signing: new Rest(),
              recalling: new Rest(),
              /** Whether it has shown its checkpoint or has signed, which it does only for a continuation. */
              isHeard: false,
            })),
        )
        type Peer = (typeof asking)[number]

        const cosigned = (note: string) => cosignedOf(verifiers, note)

        const heldBy = ({ witness }: Peer, held: Option.Option<HeldCheckpoint["checkpoint"]>) =>
          Option.toArray(held).map((checkpoint) => ({ witness: witness.name, checkpoint }))

        const failed = Effect.fnUntraced(function* (peer: Peer, rest: Rest, message: LogMessage, error: NotWitnessed) {
          if (!rest.begin(yield* Clock.currentTimeMillis)) return
          yield* log(message, { witness: peer.witness.name, reason: error.message })
        })

        const ask = (how: "cosign" | "vouch", peer: Peer, request: CosignRequest) =>
          peer.witness[how](request).pipe(
            Effect.map((lines): Answers => ({ lines, held: [] })),
            Effect.tap(() => {
              peer.isHeard = true
              return peer.signing.end() ? log("log witness signing", { witness: peer.witness.name }) : Effect.void
            }),
            Effect.catch((error) =>
              failed(peer, peer.signing, "log witness not signing", error).pipe(
                Effect.andThen(
                  error.isDoubt ? Effect.orElseSucceed(peer.witness.held, () => Option.none()) : Effect.succeedNone,
                ),
                Effect.map((held): Answers => ({ lines: "", held: heldBy(peer, held) })),
              ),
            ),
          )

        const hear = (peer: Peer, empty: string) =>
          peer.witness.recall(empty).pipe(
            Effect.tap(() => Effect.sync(() => (peer.isHeard = true))),
            Effect.map((held) => heldBy(peer, held)),
            Effect.catch((error) => Effect.as(failed(peer, peer.recalling, "log witness recall failed", error), [])),
          )

        return Witnesses.of({
          policy: Option.some(policy),
          cosigned,
          recall: Effect.fn("Witnesses.recall")(function* (empty) {
            const now = yield* Clock.currentTimeMillis
            const unheard = asking.filter(
              (peer) => !peer.isHeard && peer.recalling.isOver(now) && peer.signing.isOver(now),
            )
            return (yield* Effect.forEach(unheard, (peer) => hear(peer, empty), atOnce)).flat()
          }),
          isAnyHeard: Effect.sync(() => asking.length === 0 || asking.some(({ isHeard }) => isHeard)),
          sign: Effect.fn("Witnesses.sign")(function* (how, request) {
            const now = yield* Clock.currentTimeMillis
            const signers = how === "vouch" ? Option.none() : cosigned(request.note)
            const signed = new Set(Option.getOrElse(signers, () => []).map((signer) => signer.vkey))
            const due = asking.filter((peer) => peer.signing.isOver(now) && !signed.has(peer.witness.verifier.vkey))
            const answers = yield* Effect.forEach(due, (peer) => ask(how, peer, request), atOnce)
            return { lines: answers.map(({ lines }) => lines).join(""), held: answers.flatMap(({ held }) => held) }
          }),
        })
      }),
    )
}

/** A log without witnesses. */
export const noWitnesses: Witnesses["Service"] = {
  policy: Option.none(),
  cosigned: (note) => cosignedOf([], note),
  recall: () => Effect.succeed([]),
  isAnyHeard: Effect.succeed(true),
  sign: () => Effect.succeed(silent),
}

/** Whether the signers under a note meet the policy; true without a policy. */
export const isWitnessed = ({ cosigned, policy }: Witnesses["Service"], note: string): boolean =>
  Option.isNone(policy) ||
  policy.value.isMet(new Set(Option.getOrElse(cosigned(note), () => []).map(({ vkey }) => vkey)))
