/** The reason why a log stops: a code, which has its own advice for the operator, and a sentence with the figures. */
import { Schema } from "effect"

/**
 * The object to inspect: signed stones are missing here (`backup`), or a table was changed: `checkpoints`, `tiles`, or
 * the stones (`entries`).
 */
export const StopCode = Schema.Literals(["backup", "checkpoints", "tiles", "entries"])
export type StopCode = typeof StopCode.Type

export const StopReason = Schema.Struct({ code: StopCode, detail: Schema.String })
export type StopReason = typeof StopReason.Type

export const because = (code: StopCode, detail: string): StopReason => ({ code, detail })
