/** The cosigners of the log. Each is asked for its signature, and a checkpoint is published without any. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseCosignature } from "../../schema/log/Cosignature.ts"
import { parseNote } from "../../schema/log/Note.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { log, type LogMessage } from "../platform/LogMessages.ts"
import { type CosignRequest, type HeldCheckpoint, make, type NotCosigned, defaultTimeoutMillis } from "./Cosigner.ts"
import { cosignatureVerifier, logVerifier, type Verifier } from "./Verifier.ts"

/** The policy names an invalid key; the message says which. */
export class CosignerPolicyInvalid extends Schema.TaggedError<CosignerPolicyInvalid>()("CosignerPolicyInvalid", {
  message: Schema.String,
}) {}

/** A cosigner that signed a checkpoint. */
export interface Cosigned {
  /** The name of its key. `vkey` is the key. */
  readonly name: string
  readonly vkey: string
  /** Seconds since 1970, by its clock. */
  readonly seconds: number
}

/** Signature lines of the cosigners that sign, and the checkpoints of those that hold another history. */
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

const cosignedOf = (cosigners: ReadonlyArray<Verifier>, note: string): Option.Option<ReadonlyArray<Cosigned>> => {
  const parsed = parseNote(note)
  if (parsed instanceof Malformed) return Option.none()
  const signatures = cosigners.flatMap((verifier) =>
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
    ? Effect.fail(new CosignerPolicyInvalid({ message: verifier.message }))
    : Effect.succeed(verifier)

const silent: Answers = { lines: "", held: [] }

const atOnce = { concurrency: "unbounded" } as const

export class Cosigners extends Context.Service<
  Cosigners,
  {
    /** The cosigners and the quorum that they have to reach. */
    readonly policy: Option.Option<Policy>
    /** The signers under a note; none when a signature of a known key is invalid. */
    readonly cosigned: (note: string) => Option.Option<ReadonlyArray<Cosigned>>
    /**
     * The checkpoints of cosigners not heard since the start; `empty` is the note of the empty log. A cosigner that does
     * not say what it holds is asked again later.
     */
    recall(empty: string): Effect.Effect<ReadonlyArray<HeldCheckpoint>>
    /** Whether a cosigner has answered since this server started; true if none can be asked. */
    readonly isAnyHeard: Effect.Effect<boolean>
    /**
     * Asks the cosigners that are due: `cosign` asks those whose signature is missing, `vouch` all that signed this log
     * before.
     */
    sign(how: "cosign" | "vouch", request: CosignRequest): Effect.Effect<Answers>
  }
>()("spirit-altar/log/Cosigners") {
  static readonly none = Layer.sync(Cosigners, () => noCosigners)

  /** The cosigners of a policy, for the log with this verifier key, with a timeout of `patience` ms each. */
  static readonly layer = (policy: Policy, vkey: string, patience: number = defaultTimeoutMillis) =>
    Layer.effect(
      Cosigners,
      Effect.gen(function* () {
        const ownVerifier = yield* valid(logVerifier(vkey))
        const verifiers = yield* Effect.forEach(policy.cosigners, (cosigner) =>
          valid(cosignatureVerifier(cosigner.vkey)),
        )
        const asking = yield* Effect.forEach(
          policy.cosigners.flatMap(({ name, url }, at) => {
            const verifier = verifiers[at]
            return url === undefined || verifier === undefined ? [] : [{ name, url, verifier }]
          }),
          ({ name, url, verifier }) =>
            Effect.map(make(name, url, verifier, ownVerifier, patience), (cosigner) => ({
              cosigner,
              signing: new Rest(),
              recalling: new Rest(),
              /** Whether it has shown its checkpoint or has signed, which it does only for a continuation. */
              isHeard: false,
            })),
        )
        type Peer = (typeof asking)[number]

        const cosigned = (note: string) => cosignedOf(verifiers, note)

        const heldBy = ({ cosigner }: Peer, held: Option.Option<HeldCheckpoint["checkpoint"]>) =>
          Option.toArray(held).map((checkpoint) => ({ cosigner: cosigner.name, checkpoint }))

        const failed = Effect.fnUntraced(function* (peer: Peer, rest: Rest, message: LogMessage, error: NotCosigned) {
          if (!rest.begin(yield* Clock.currentTimeMillis)) return
          yield* log(message, { cosigner: peer.cosigner.name, reason: error.message })
        })

        const ask = (how: "cosign" | "vouch", peer: Peer, request: CosignRequest) =>
          peer.cosigner[how](request).pipe(
            Effect.map((lines): Answers => ({ lines, held: [] })),
            Effect.tap(() => {
              peer.isHeard = true
              return peer.signing.end() ? log("cosigner signing", { cosigner: peer.cosigner.name }) : Effect.void
            }),
            Effect.catch((error) =>
              failed(peer, peer.signing, "cosigner not signing", error).pipe(
                Effect.andThen(
                  error.isDoubt ? Effect.orElseSucceed(peer.cosigner.held, () => Option.none()) : Effect.succeedNone,
                ),
                Effect.map((held): Answers => ({ lines: "", held: heldBy(peer, held) })),
              ),
            ),
          )

        const hear = (peer: Peer, empty: string) =>
          peer.cosigner.recall(empty).pipe(
            Effect.tap(() => Effect.sync(() => (peer.isHeard = true))),
            Effect.map((held) => heldBy(peer, held)),
            Effect.catch((error) => Effect.as(failed(peer, peer.recalling, "cosigner recall failed", error), [])),
          )

        return Cosigners.of({
          policy: Option.some(policy),
          cosigned,
          recall: Effect.fn("Cosigners.recall")(function* (empty) {
            const now = yield* Clock.currentTimeMillis
            const unheard = asking.filter(
              (peer) => !peer.isHeard && peer.recalling.isOver(now) && peer.signing.isOver(now),
            )
            return (yield* Effect.forEach(unheard, (peer) => hear(peer, empty), atOnce)).flat()
          }),
          isAnyHeard: Effect.sync(() => asking.length === 0 || asking.some(({ isHeard }) => isHeard)),
          sign: Effect.fn("Cosigners.sign")(function* (how, request) {
            const now = yield* Clock.currentTimeMillis
            const signers = how === "vouch" ? Option.none() : cosigned(request.note)
            const signed = new Set(Option.getOrElse(signers, () => []).map((signer) => signer.vkey))
            const due = asking.filter((peer) => peer.signing.isOver(now) && !signed.has(peer.cosigner.verifier.vkey))
            const answers = yield* Effect.forEach(due, (peer) => ask(how, peer, request), atOnce)
            return { lines: answers.map(({ lines }) => lines).join(""), held: answers.flatMap(({ held }) => held) }
          }),
        })
      }),
    )
}

/** A log without cosigners. */
export const noCosigners: Cosigners["Service"] = {
  policy: Option.none(),
  cosigned: (note) => cosignedOf([], note),
  recall: () => Effect.succeed([]),
  isAnyHeard: Effect.succeed(true),
  sign: () => Effect.succeed(silent),
}

/** Whether the signers under a note meet the policy; true without a policy. */
export const isCosigned = ({ cosigned, policy }: Cosigners["Service"], note: string): boolean =>
  Option.isNone(policy) ||
  policy.value.isMet(new Set(Option.getOrElse(cosigned(note), () => []).map(({ vkey }) => vkey)))
