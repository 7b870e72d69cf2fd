/** Builders of buyer commands; the code that pays or asks an altar is loaded on demand, so that `--help` is fast. */
import { Effect } from "effect"
import type { Settled } from "../../buyer/Acts.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { command, type Config, type FlagValues, type CommandText } from "../Define.ts"
import { common, paying } from "../Flags.ts"
import { type CommandError, pretty, programName } from "../Output.ts"

const session = Effect.promise(() => import("./Session.ts"))

const summary = (bought: Settled, later: "reveal" | "unseal" | undefined) =>
  Effect.map(programName, (name) => {
    const paid = bought.replayed
      ? "replayed    nothing was charged again"
      : `paid        ${bought.receipt.priceUsd}, once`
    const hint = `\n\nTo ${later} the words later, free and once:\n  ${name} ${later} ${bought.record.id}`
    return `${paid}\n${pretty(bought)}${later === undefined ? "" : hint}`
  })

/** A command that buys one act under one key; `later` names the command that opens its words. */
export const paid = <const Name extends string, const Flags extends Config, A extends Settled, R = never>(
  name: Name,
  told: CommandText & {
    readonly flags: Flags
    readonly buy: (orders: Orders, given: FlagValues<Flags>, key: string) => Effect.Effect<A, CommandError, R>
    readonly later?: (given: FlagValues<Flags>) => "reveal" | "unseal" | undefined
    readonly ends?: (bought: A) => string
  },
) =>
  command(name, {
    ...told,
    flags: { ...paying, own: told.flags },
    run: ({ own, ...flags }) =>
      Effect.flatMap(session, ({ runPaid }) =>
        runPaid(
          flags,
          (orders, key) => told.buy(orders, own, key),
          (bought) => Effect.map(summary(bought, told.later?.(own)), (text) => `${text}${told.ends?.(bought) ?? ""}`),
        ),
      ),
  })

export const free = <const Name extends string, const Flags extends Config, A>(
  name: Name,
  told: CommandText & {
    readonly flags: Flags
    readonly ask: (orders: Orders, given: FlagValues<Flags>) => Effect.Effect<A, CommandError>
    readonly render: (answer: A) => string
  },
) =>
  command(name, {
    ...told,
    flags: { ...common, own: told.flags },
    run: ({ own, ...flags }) =>
      Effect.flatMap(session, ({ runFree }) => runFree(flags, (orders) => told.ask(orders, own), told.render)),
  })
