/** Whether payers' own keys signed: what waits at the same time is recovered in a thread, a single signature here. */
import { Clock, Effect } from "effect"
import * as Batches from "../../platform/Batches.ts"
import * as Thread from "../../platform/Thread.ts"
import { makeVerdicts, signingLength } from "./SigningKey.ts"

/** What `src/build.ts` makes of `SigningKeyWorker.ts`. */
const worker = Thread.programOf("signing-keys")

/** Milliseconds without a thread after one that failed. */
const pause = 60_000

/** Asks whether the payer of a signing signed it. */
export const make = Effect.fnUntraced(function* (program = worker) {
  const here = yield* Effect.promise(makeVerdicts)
  const ask = yield* Thread.make<Uint8Array, Uint8Array>(program)
  let pausedUntil = 0

  const inThread = (signings: Uint8Array) =>
    Effect.catch(ask(signings), (ended) =>
      Effect.gen(function* () {
        pausedUntil = (yield* Clock.currentTimeMillis) + pause
        yield* Effect.logWarning(
          "The thread that checks signatures ended; for a minute they are checked without it",
          ended,
        )
        return here(signings)
      }),
    )

  return yield* Batches.make<Uint8Array, boolean, never>({
    keysOf: () => [],
    run: (list) =>
      Effect.gen(function* () {
        const signings = new Uint8Array(list.length * signingLength)
        list.forEach((signing, index) => signings.set(signing, index * signingLength))
        const isHere = list.length === 1 || (yield* Clock.currentTimeMillis) < pausedUntil
        const verdicts = isHere ? here(signings) : yield* inThread(signings)
        return list.map((_, index) => verdicts[index] === 1)
      }),
  })
})
