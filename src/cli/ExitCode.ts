/** How the process ends when it is told to stop. */
import { Context, Effect, MutableRef } from "effect"

/** The exit code then: that of an interrupted command, until a server runs, which ends in no other way. */
export const StoppedCode = Context.Reference<MutableRef.MutableRef<number>>("spirit-altar/cli/StoppedCode", {
  defaultValue: () => MutableRef.make(interrupted),
})

/** What shells give a command that Ctrl-C ended. */
export const interrupted = 130

/** From here on, having been stopped is no failure. */
export const exitsCleanly = Effect.map(StoppedCode, (code) => MutableRef.set(code, 0))
