/** Whether payers' own keys signed: what waits at the same time is checked in a thread, a single signature here. */
import { Clock, Duration, Effect } from "effect"
import * as Gather from "../../../platform/Gather.ts"
import * as Thread from "../../../platform/Thread.ts"
import { makeIsSigned, signingLength } from "./SigningKey.ts"

/** What `src/build/build.ts` makes of `SigningKeyWorker.ts`. */
const worker = Thread.programOf("signing-keys")

/** A full batch takes some hundredths of a second; payers wait for whoever hangs. */
const patience = Duration.seconds(2)

/** Signatures checked here before everybody else has a turn. */
const turn = 8

/** Milliseconds without a thread after one that failed. */
const pause = 60_000

const nothing = new Uint8Array()

/** Asks whether the payer of a signing signed it. */
export const make = Effect.fnUntraced(function* (program = worker) {
  const isSigned = yield* Effect.promise(makeIsSigned)
  const ask = yield* Thread.make<Uint8Array, Uint8Array>(program, patience)
  let pausedUntil = 0

  const inThread = Effect.fnUntraced(function* (list: ReadonlyArray<Uint8Array>) {
    if (list.length === 1 || (yield* Clock.currentTimeMillis) < pausedUntil) return nothing
    const signings = new Uint8Array(list.length * signingLength)
    list.forEach((signing, index) => signings.set(signing, index * signingLength))
    return yield* Effect.catch(ask(signings), (ended) =>
      Effect.gen(function* () {
        pausedUntil = (yield* Clock.currentTimeMillis) + pause
        yield* Effect.logWarning(
          "The thread that checks signatures ended; for a minute they are checked without it",
          ended,
        )
        return nothing
      }),
    )
  })

  const run = Effect.fnUntraced(function* (list: ReadonlyArray<Uint8Array>) {
    const affirmed = yield* inThread(list)
    const verdicts: Array<boolean> = []
    let checked = 0
    for (const [index, signing] of list.entries()) {
      if (affirmed[index] === 1) {
        verdicts.push(true)
        continue
      }
      // What the thread does not affirm is checked once more: no fault of it turns a payer away.
      verdicts.push(isSigned(signing))
      checked += 1
      if (checked % turn === 0) yield* Effect.yieldNow
    }
    return verdicts
  })

  return yield* Gather.make<Uint8Array, boolean, never>({ run })
})
