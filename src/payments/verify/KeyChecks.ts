/** Checks signatures of payers' own keys: concurrent ones in a thread, a single one in place. */
import { Clock, Duration, Effect } from "effect"
import * as Batcher from "../../platform/Batcher.ts"
import * as Thread from "../../platform/Thread.ts"
import { makeIsSigned, signingLength } from "./SigningKey.ts"
import { log } from "../../platform/LogMessages.ts"

/** Built from `SigningKeyWorker.ts` by `src/build/build.ts`. */
const worker = Thread.programOf("signing-keys")

/** A full batch takes some hundredths of a second. Payers wait for a hanging thread this long. */
const patience = Duration.seconds(2)

/** Signatures checked here before other fibers get a turn. */
const turn = 8

/** Milliseconds without a thread after a failed one. */
const pause = 60_000

const nothing = new Uint8Array()

/** Checks whether the payer of a signing signed it. */
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
        yield* log("signature thread ended", {}, ended)
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
      // A signature the thread does not confirm is checked again here, so that a fault of the thread rejects no payer.
      verdicts.push(isSigned(signing))
      checked += 1
      if (checked % turn === 0) yield* Effect.yieldNow
    }
    return verdicts
  })

  return yield* Batcher.make<Uint8Array, boolean, never>({ run })
})
