/** Warnings about probable mistakes in an environment: unknown names, settings without effect alone, test money. */
import { readFileSync } from "node:fs"
import { parseEnv } from "node:util"
import { Config, Effect, Result } from "effect"
import { baseSepolia } from "../../../schema/payments/Usdc.ts"
import * as Otlp from "../../telemetry/Otlp.ts"
import { refused } from "./Kinds.ts"
import { groups, renamed } from "./Table.ts"

const variableNames: ReadonlySet<string> = new Set(groups.flatMap(([, variables]) => variables.map(({ name }) => name)))

/** The first words of our names. A name that begins with one and is none of ours is a mistake. */
const families = new Set(
  [...variableNames].filter((name) => name.includes("_")).map((name) => name.slice(0, name.indexOf("_"))),
)

/** Variables with no effect unless one of the second list is set. */
const pairs = [
  ["CDP_API_KEY_ID", ["CDP_API_KEY_SECRET"]],
  ["CDP_API_KEY_SECRET", ["CDP_API_KEY_ID"]],
  ["CDP_API_KEY_ID", ["FACILITATOR_URL"]],
  ["FACILITATOR_CATALOGUES", ["FACILITATOR_URL"]],
  ["LOG_ORIGIN", ["LOG_KEY"]],
  ["LOG_CHECKPOINT_FILE", ["LOG_KEY"]],
  ["LOG_COSIGNERS", ["LOG_KEY"]],
  ["PAY_TO", ["RPC_URL"]],
  ["PAY_TO", ["RELAYER_KEY", "FACILITATOR_URL"]],
  ["RELAYER_KEY", ["PAY_TO"]],
  ["FACILITATOR_URL", ["PAY_TO"]],
  ["CARD_PROFILE_ID", ["PAY_TO"]],
] as const

type Environment = Readonly<Record<string, string | undefined>>

const isSetIn = (env: Environment) => (name: string) => (env[name] ?? "") !== ""

/** Levenshtein's distance. */
const distance = (from: string, to: string) => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [line, letter] of [...from].entries()) {
    const above = row
    row = [line + 1]
    for (const [at, other] of [...to].entries())
      row.push(Math.min((above[at] ?? 0) + (letter === other ? 0 : 1), (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1))
  }
  return row.at(-1) ?? 0
}

/** The variable whose name is nearest, if at most three letters differ, and of a short name every third. */
const meantBy = (name: string) =>
  [...variableNames]
    .map((meant) => ({ meant, far: distance(name, meant) / Math.min(3, Math.floor(meant.length / 3)) }))
    .sort((left, right) => left.far - right.far)
    .find(({ far }) => far <= 1)?.meant

/** A sentence for each set name that looks like ours and is none. */
export const unknownIn = (env: Environment): ReadonlyArray<string> =>
  Object.keys(env)
    .filter(isSetIn(env))
    .filter((name) => !variableNames.has(name) && !(name in renamed))
    .flatMap((name) => {
      const meant = meantBy(name)
      if (meant !== undefined) return [`${name} is not used: is ${meant} meant?`]
      return families.has(name.slice(0, name.indexOf("_")))
        ? [`${name} is not used: serve --help lists every variable.`]
        : []
    })

/** The variables that `node --env-file` read and an exported one replaces, as Node has it. */
export const overriddenIn = (env: Environment, execArgv: ReadonlyArray<string>): ReadonlyArray<string> => {
  const files = execArgv.join("\n").matchAll(/^--env-file(?:-if-exists)?[=\n](.+)$/gmu)
  const texts = [...files].map(([, file = ""]) =>
    Result.getOrElse(
      Result.try(() => readFileSync(file, "utf8")),
      () => "",
    ),
  )
  return Object.entries(parseEnv(texts.join("\n"))).flatMap(([name, value]) =>
    variableNames.has(name) && env[name] !== value
      ? [
          `${name} of --env-file is not used: the environment exports another value, which goes first. Run unset ${name}.`,
        ]
      : [],
  )
}

/** Names unknown variables together with the errors of a configuration. */
export const withUnknown = <A>(config: Config.Config<A>): Config.Config<A> =>
  Config.orElse(config, ({ cause: { message } }) =>
    refused([message, ...unknownIn(process.env), ...overriddenIn(process.env, process.execArgv)].join("\n")),
  )

/** The warnings for an environment. They contain names only, never values. */
export const adviceFor = (env: Environment): ReadonlyArray<string> => {
  const isSet = isSetIn(env)
  const halves = pairs
    .filter(([name, others]) => isSet(name) && !others.some(isSet))
    .map(([name, others]) => `${name} is set and does nothing: ${others.join(" or ")} is not set.`)
  const unkept =
    isSet("LOG_KEY") && !isSet("LOG_CHECKPOINT_FILE") && !isSet("LOG_COSIGNERS")
      ? ["LOG_KEY is set without LOG_CHECKPOINT_FILE or LOG_COSIGNERS: after its next start the server signs nothing."]
      : []
  const both =
    isSet("RELAYER_KEY") && isSet("FACILITATOR_URL")
      ? ["RELAYER_KEY is set and does nothing: FACILITATOR_URL is set, and the facilitator settles."]
      : []
  const rehearsal =
    env["X402_NETWORK"] === baseSepolia
      ? [
          "X402_NETWORK is Base's test network: every act is sold for test money that is worth nothing. Leave it out to be paid in USDC.",
        ]
      : []
  return [...unknownIn(env), ...halves, ...unkept, ...both, ...rehearsal]
}

/** All warnings for this process. */
export const advice = Effect.map(Otlp.faults, (faults) => [
  ...adviceFor(process.env),
  ...overriddenIn(process.env, process.execArgv),
  ...faults,
])
