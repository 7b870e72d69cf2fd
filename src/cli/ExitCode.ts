/** The exit code of a process that is told to stop. */
import { Context, Effect, MutableRef } from "effect"

/** 130 until a server runs; a server that is stopped ends with 0. */
export const StoppedCode = Context.Reference<MutableRef.MutableRef<number>>("spirit-altar/cli/StoppedCode", {
  defaultValue: () => MutableRef.make(interrupted),
})

/** The shell's code for a command that Ctrl-C ended. */
export const interrupted = 130

/** From here on, being stopped is no failure. */
export const exitsCleanly = Effect.map(StoppedCode, (code) => MutableRef.set(code, 0))
