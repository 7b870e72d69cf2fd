/**
 * The faults of a wire. All proxies speak one language: a fault holds a message until the test says how it goes on,
 * drops it, delays it, falsifies the answer, or cuts the connection. `Before` means that the other side has not heard of it,
 * `After` that it has done it and the answer suffers. A fault that is armed strikes always, or with a probability.
 */
import { Effect } from "effect"
import { patience } from "../Patience.ts"
import type { Random } from "../Random.ts"

/** The test's side of a fault that is armed. */
export interface Trap {
  readonly arrived: Effect.Effect<void>
  /** Lets what was caught go on, and everything after it. */
  readonly release: Effect.Effect<void>
  /** Destroys what was caught; later messages continue. */
  readonly discard: Effect.Effect<void>
  readonly end: () => void
}

/** The proxy's side: `caught` reports an arrival and answers how it goes on. */
export interface Struck<Fault> {
  readonly fault: Fault
  readonly caught: () => Promise<"release" | "discard">
}

interface When<Message> {
  /** The probability of a strike; 1 if absent. */
  readonly rate?: number
  readonly fits?: (message: Message) => boolean
}

/** `random` draws for faults with a probability; of several that fit the `first` or the `last` that was armed strikes. */
export const faults = <Fault, Message>(random: Random | undefined, which: "first" | "last") => {
  interface Armed extends Struck<Fault>, Required<When<Message>> {}
  let all: ReadonlyArray<Armed> = []
  const falls = (rate: number) => rate >= 1 || (random?.chance(rate) ?? Math.random() < rate)
  return {
    /** From now on, where it fits; `name` says in a failure what was waited for. */
    arm: (name: string, fault: Fault, { fits = () => true, rate = 1 }: When<Message> = {}): Trap => {
      const arrival = Promise.withResolvers<void>()
      const verdict = Promise.withResolvers<"release" | "discard">()
      const caught = () => {
        arrival.resolve()
        return verdict.promise
      }
      const armed: Armed = { fault, caught, rate, fits }
      all = which === "first" ? [...all, armed] : [armed, ...all]
      return {
        arrived: Effect.promise(() => arrival.promise).pipe(
          Effect.timeoutOrElse({ duration: patience(20), orElse: () => Effect.die(`nothing was caught: ${name}`) }),
        ),
        release: Effect.sync(() => verdict.resolve("release")),
        discard: Effect.sync(() => verdict.resolve("discard")),
        end: () => void (all = all.filter((other) => other !== armed)),
      }
    },
    calm: () => void (all = []),
    strikes: (message: Message): Struck<Fault> | undefined =>
      all.find(({ fits, rate }) => fits(message) && falls(rate)),
  }
}

/** Whether a table of false answers has one for this fault. */
export const has = <Key extends string>(table: Readonly<Record<Key, unknown>>, fault: string): fault is Key =>
  Object.hasOwn(table, fault)
