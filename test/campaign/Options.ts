/** The flags of every campaign: each means the same everywhere, or is refused with the reason. */
import { rmSync } from "node:fs"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { buildCheckout } from "../../src/build/build.ts"
import { command, type Config, type FlagValues, optionalText } from "../../src/cli/Define.ts"
import { endOnSignals, homeOf } from "../lab/Program.ts"
import type { Outcome, Run } from "./Run.ts"

interface Told {
  readonly says: string
  readonly examples: ReadonlyArray<readonly [command: string, says: string]>
  /** Why nothing is drawn, where nothing is. */
  readonly seed?: string
  /** The counted unit and its default. */
  readonly size: { readonly unit: string; readonly usual: number }
  /** The part that ends after the minutes, and their default. */
  readonly minutes: { readonly says: string; readonly usual?: number }
  /** Whether it starts servers, which leave logs. */
  readonly leavesLogs?: boolean
}

export const text = (name: string, says: string) => Flag.map(optionalText(name, says), Option.getOrUndefined)

const number = (name: string, says: string, fits: (value: number) => boolean, wants: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(fits, () => wants),
    Flag.withDescription(says),
    Flag.optional,
    Flag.map(Option.getOrUndefined),
  )

export const whole = (name: string, says: string, least = 1, most = 1_000_000_000) =>
  number(
    name,
    says,
    (value) => Number.isInteger(value) && value >= least && value <= most,
    `--${name} takes a whole number from ${least} to ${most}`,
  )

/** The flags that all campaigns have, as this one understands them. */
const shared = ({ leavesLogs, minutes, seed, size }: Told) => ({
  seed:
    seed === undefined
      ? whole("seed", "Seed of all chance; drawn and printed otherwise", 0)
      : number("seed", `Refused: ${seed}`, () => false, `--seed means nothing here: ${seed}`),
  minutes: number(
    "minutes",
    `${minutes.says} (${minutes.usual ?? "no end"})`,
    (value) => value > 0,
    "--minutes takes a number above 0",
  ),
  size: whole("size", `How many ${size.unit} (${size.usual})`),
  ...(leavesLogs === true
    ? { keep: text("keep", "Keep logs and answers in this folder; otherwise they are kept when anything is wrong") }
    : {}),
})

const printed = ({ counts, violations }: Outcome) =>
  [
    ...Object.entries(counts).map(([name, count]) => `${String(count).padStart(9)} ${name}`),
    `${violations.length} violations`,
    ...violations.map((what) => `  ${what}`),
  ].join("\n")

/** Runs a campaign and prints its result; its exit code is 1 when anything was wrong. */
const carryOut = async (
  name: string,
  told: Told,
  given: Readonly<Record<string, string | number | undefined>>,
  own: (run: Run) => Promise<Outcome>,
) => {
  endOnSignals()
  const seed = Number(given["seed"] ?? Math.floor(Math.random() * 1_000_000))
  const minutes = Number(given["minutes"] ?? told.minutes.usual ?? Infinity)
  const { unit } = told.size
  const size = Number(given["size"] ?? told.size.usual)
  const keep = given["keep"] === undefined ? undefined : String(given["keep"])
  let folder = ""
  const home = async () => {
    await buildCheckout()
    folder = homeOf(keep, name)
    return folder
  }
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1_000
  const log = (line: string) => console.log(`${seconds().toFixed(0).padStart(5)} s  ${line}`)
  const drawn = told.seed === undefined ? [`seed ${seed}`] : []
  console.error([name, `${size} ${unit}`, ...drawn].join(", "))
  const outcome = await own({ seed, size, minutes, isOver: () => seconds() >= minutes * 60, home, log })
  console.log(printed(outcome))
  if (keep === undefined && outcome.violations.length === 0) rmSync(folder, { recursive: true, force: true })
  else if (folder !== "") log(`logs and answers are in ${folder}`)
  process.exit(outcome.violations.length > 0 ? 1 : 0)
}

/** A campaign as a command. */
export const campaign = <const Name extends string, const Flags extends Config>(
  name: Name,
  told: Told & { readonly flags: Flags; readonly run: (run: Run, given: FlagValues<Flags>) => Promise<Outcome> },
) =>
  command(name, {
    description: told.says,
    examples: told.examples.map(([args, says]) => [`npm run campaign -- ${args}`, says]),
    flags: { all: shared(told), own: told.flags },
    run: ({ all, own }) => Effect.promise(() => carryOut(name, told, all, (run) => told.run(run, own))),
  })
