/** Short constructors of commands, flags and arguments with their descriptions. */
import type { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"

export type Config = Command.Command.Config

/** The parsed values of flags that are nested under a name of their own. */
export type FlagValues<Flags extends Config> = Command.Command.Config.Infer<{ readonly own: Flags }>["own"]

export interface CommandText {
  /** Lists of commands show the first sentence. */
  readonly description: string
  /** Calls with their meaning. */
  readonly examples: Readonly<Record<string, string>>
}

export const command = <const Name extends string, const Flags extends Config, E, R>(
  name: Name,
  spec: CommandText & {
    readonly flags: Flags
    readonly run: (given: Command.Command.Config.Infer<Flags>) => Effect.Effect<void, E, R>
  },
) =>
  Command.make(name, spec.flags, spec.run).pipe(
    Command.withDescription(spec.description),
    Command.withShortDescription(spec.description.split(/\.\s/u)[0] ?? ""),
    Command.withExamples(Object.entries(spec.examples).map(([call, description]) => ({ command: call, description }))),
  )

/** A flag that takes a text; `metavar` names its value in help. */
export const text = (name: string, says: string, metavar = "string") =>
  Flag.String(name).pipe(Flag.withDescription(says), Flag.withMetavar(metavar))

export const optionalText = (name: string, says: string, metavar?: string) => Flag.optional(text(name, says, metavar))

/** A key may come from a file, whose line ends are no part of it. */
export const optionalKey = (name: string, says: string) =>
  text(name, says).pipe(
    Flag.map((key) => key.trim()),
    Flag.optional,
  )

export const on = (name: string, says: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(says), Flag.withDefault(false))

export const word = (name: string, says: string) => Argument.withDescription(Argument.String(name), says)
