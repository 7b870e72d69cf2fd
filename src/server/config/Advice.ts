/** Warnings about probable mistakes in an environment: unknown names, settings without effect alone, test money. */
import { Config } from "effect"
import { baseSepolia } from "../../../schema/payments/Usdc.ts"
import { refused } from "./Kinds.ts"
import { groups } from "./Table.ts"

const known: ReadonlySet<string> = new Set(groups.flatMap(([, variables]) => variables.map(({ name }) => name)))

/** The first words of our names. A name that begins with one and is none of ours is a mistake. */
const families = new Set(
  [...known].filter((name) => name.includes("_")).map((name) => name.slice(0, name.indexOf("_"))),
)

/** Variables with no effect unless one of the second list is set. */
const pairs = [
  ["CDP_API_KEY_ID", ["CDP_API_KEY_SECRET"]],
  ["CDP_API_KEY_SECRET", ["CDP_API_KEY_ID"]],
  ["CDP_API_KEY_ID", ["FACILITATOR_URL"]],
  ["FACILITATOR_CATALOGUES", ["FACILITATOR_URL"]],
  ["LOG_ORIGIN", ["LOG_KEY"]],
  ["PAY_TO", ["RPC_URL"]],
  ["PAY_TO", ["RELAYER_KEY", "FACILITATOR_URL"]],
  ["RELAYER_KEY", ["PAY_TO"]],
  ["FACILITATOR_URL", ["PAY_TO"]],
  ["CARD_PROFILE_ID", ["PAY_TO"]],
] as const

type Environment = Readonly<Record<string, string | undefined>>

const isSetIn = (env: Environment) => (name: string) => (env[name] ?? "") !== ""

/** A sentence for each set name that looks like ours and is none. */
export const unknownIn = (env: Environment): ReadonlyArray<string> =>
  Object.keys(env)
    .filter(isSetIn(env))
    .filter((name) => !known.has(name) && families.has(name.slice(0, name.indexOf("_"))))
    .map((name) => `${name} is not used: serve --help lists every variable.`)

/** Names unknown variables together with the errors of a configuration. */
export const withUnknown = <A>(config: Config.Config<A>): Config.Config<A> =>
  Config.orElse(config, ({ cause: { message } }) => refused([message, ...unknownIn(process.env)].join("\n")))

/** The warnings for an environment. They contain names only, never values. */
export const adviceFor = (env: Environment): ReadonlyArray<string> => {
  const isSet = isSetIn(env)
  const halves = pairs
    .filter(([name, others]) => isSet(name) && !others.some(isSet))
    .map(([name, others]) => `${name} is set and does nothing: ${others.join(" or ")} is not set.`)
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
  return [...unknownIn(env), ...halves, ...both, ...rehearsal]
}
