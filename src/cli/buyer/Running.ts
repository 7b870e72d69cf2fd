/** What pays, and what asks an altar, is loaded when somebody does, so that `--help` need not wait for it. */
import { Effect } from "effect"
import type { Orders } from "../../buyer/Orders.ts"
import type { CommandError } from "../Output.ts"
import type { Common, Paying } from "./Session.ts"

const session = Effect.promise(() => import("./Session.ts"))

export const runFree = <A>(
  flags: Common,
  use: (orders: Orders) => Effect.Effect<A, CommandError>,
  render: (answer: A) => string | Effect.Effect<string>,
) => Effect.flatMap(session, (loaded) => loaded.runFree(flags, use, render))

export const runPaid = <A, R = never>(
  flags: Paying,
  use: (orders: Orders, key: string) => Effect.Effect<A, CommandError, R>,
  render: (answer: A) => string | Effect.Effect<string>,
) => Effect.flatMap(session, (loaded) => loaded.runPaid(flags, use, render))
