/** Every value the server reads from its environment, named once; secrets stay redacted. */
import type { Redacted } from "effect"
import { Config, ConfigProvider, Context, Duration, Option, Result, Schema } from "effect"
import type { IpNetwork } from "effect/net"
import { secondsMaximum } from "../schema/payments/Usdc.ts"
import { base, usdc, usdcNetworks } from "../schema/payments/Usdc.ts"
import { network } from "./limits/Address.ts"
import type { LogConfig } from "./log/Log.ts"
import { fromText, originOf } from "./log/Signer.ts"
import type { FacilitatorKey } from "./payments/x402/FacilitatorKey.ts"
import type { Terms } from "./payments/PaymentTerms.ts"
import { type Variable, variable } from "./Variables.ts"

export type SettlementConfig =
  | { readonly _tag: "Relayer"; readonly privateKey: Redacted.Redacted<`0x${string}`> }
  | { readonly _tag: "Facilitator"; readonly url: string; readonly key: Option.Option<FacilitatorKey> }

export interface CardConfig {
  /** The profile that tokens are granted to. */
  readonly profile: string
  readonly secretKey: Redacted.Redacted<string>
  readonly challengeSecret: Redacted.Redacted<string>
  readonly apiUrl: string
}

export interface PaymentsConfig {
  readonly terms: Terms
  readonly rpcUrl: Redacted.Redacted<string>
  readonly finalTag: "finalized" | "safe" | "latest"
  readonly settlement: SettlementConfig
  readonly walletFactories: ReadonlyArray<`0x${string}`>
  /** How cards are taken, beside x402; absent where they are not. */
  readonly cards?: CardConfig | undefined
  /** How long a settlement call and the wait for its receipt may each take. */
  readonly patience: Duration.Duration
  readonly sweepEvery: Duration.Duration
}

export interface ServerConfig {
  readonly host: string
  readonly port: number
  readonly publicUrl: string
  readonly databaseUrl: Redacted.Redacted<string>
  /** Whose forwarding headers are believed. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** What pseudonyms of addresses are made with; absent, the database keeps a random one. */
  readonly rateLimitSecret: Option.Option<Redacted.Redacted<string>>
  /** Ready, or the names of what is missing. */
  readonly payments: PaymentsConfig | ReadonlyArray<string>
  /** The transparency log over the stones; absent without a key. */
  readonly log?: LogConfig | undefined
}

export class AppConfig extends Context.Service<AppConfig, ServerConfig>()("spirit-altar/AppConfig") {}

const AddressText = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u))
const KeyText = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))

const seconds = (name: Variable, fallback: number) =>
  Config.schema(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 1, maximum: secondsMaximum })), name).pipe(
    Config.withDefault(fallback),
  )

const parts = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const list = (name: Variable) => Config.String(name).pipe(Config.withDefault(""), Config.map(parts))

const isAddress = Schema.is(AddressText)

const Networks = Schema.String.check(
  Schema.makeFilter((text) =>
    parts(text).flatMap((part) =>
      Result.isFailure(network(part)) ? [`Expected an address or a CIDR, got ${part}`] : [],
    ),
  ),
)

const networks = (name: Variable) =>
  Config.schema(Networks, name).pipe(
    Config.withDefault(""),
    Config.map((text) =>
      parts(text).flatMap((part) => Result.match(network(part), { onFailure: () => [], onSuccess: (one) => [one] })),
    ),
  )

/** Cards are configured wholly or not at all. */
const cards: Config.Config<CardConfig | undefined> = Config.all({
  profile: Config.option(Config.NonEmptyString(variable("CARD_PROFILE_ID"))),
  secretKey: Config.option(Config.schema(Schema.Redacted(Schema.NonEmptyString), variable("CARD_SECRET_KEY"))),
  challengeSecret: Config.option(
    Config.schema(Schema.Redacted(Schema.String.check(Schema.isMinLength(32))), variable("CARD_CHALLENGE_SECRET")),
  ),
  apiUrl: Config.URL(variable("CARD_API_URL")).pipe(Config.withDefault(new URL("https://api.stripe.com"))),
}).pipe(
  Config.flatMap(({ apiUrl, challengeSecret, profile, secretKey }) => {
    const missing = [
      ...(Option.isNone(profile) ? [variable("CARD_PROFILE_ID")] : []),
      ...(Option.isNone(secretKey) ? [variable("CARD_SECRET_KEY")] : []),
      ...(Option.isNone(challengeSecret) ? [variable("CARD_CHALLENGE_SECRET")] : []),
    ]
    if (missing.length === 3) return Config.succeed(undefined)
    return Option.match(Option.all({ profile, secretKey, challengeSecret }), {
      onSome: (set) => Config.succeed({ ...set, apiUrl: apiUrl.href }),
      onNone: () =>
        Config.fail(
          new ConfigProvider.SourceError({
            message: `Cards are configured by half: set ${missing.join(" and ")} as well, or none of them.`,
          }),
        ),
    })
  }),
)

const environment = Config.all({
  cards,
  network: Config.schema(Schema.Literals(usdcNetworks), variable("X402_NETWORK")).pipe(Config.withDefault(base)),
  payTo: Config.option(Config.schema(AddressText, variable("PAY_TO"))),
  rpcUrl: Config.option(Config.Redacted(variable("RPC_URL"))),
  relayerKey: Config.option(Config.schema(Schema.Redacted(KeyText), variable("RELAYER_KEY"))),
  facilitatorUrl: Config.option(Config.String(variable("FACILITATOR_URL"))),
  isCatalogued: Config.Boolean(variable("FACILITATOR_CATALOGUES")).pipe(Config.withDefault(false)),
  keyId: Config.option(Config.String(variable("CDP_API_KEY_ID"))),
  keySecret: Config.option(Config.Redacted(variable("CDP_API_KEY_SECRET"))),
  finalTag: Config.schema(Schema.Literals(["finalized", "safe", "latest"]), variable("CHAIN_FINALITY")).pipe(
    Config.withDefault("finalized" as const),
  ),
  walletFactories: list("WALLET_FACTORIES"),
  patience: seconds("SETTLE_TIMEOUT_SECONDS", 30),
  sweepEvery: seconds("SWEEP_SECONDS", 5),
  maxTimeoutSeconds: seconds("MAX_TIMEOUT_SECONDS", 300),
})

const settlementOf = (env: Config.Success<typeof environment>): Option.Option<SettlementConfig> =>
  Option.orElse(
    Option.map(env.facilitatorUrl, (url): SettlementConfig => ({
      _tag: "Facilitator",
      url,
      key: Option.all({ id: env.keyId, secret: env.keySecret }),
    })),
    () => Option.map(env.relayerKey, (privateKey): SettlementConfig => ({ _tag: "Relayer", privateKey })),
  )

/** Payments are configured wholly or not at all; there is no default for money. */
const payments: Config.Config<PaymentsConfig | ReadonlyArray<string>> = Config.map(environment, (env) => {
  const settlement = settlementOf(env)
  if (Option.isSome(env.payTo) && Option.isSome(env.rpcUrl) && Option.isSome(settlement)) {
    const { asset, assetName, assetVersion, explorer } = usdc[env.network]
    return {
      terms: {
        network: env.network,
        asset,
        assetName,
        assetVersion,
        explorer,
        payTo: env.payTo.value,
        settledBy:
          settlement.value._tag === "Relayer" ? "self-settled by a relayer" : new URL(settlement.value.url).host,
        isCatalogued: settlement.value._tag === "Facilitator" && env.isCatalogued,
        maxTimeoutSeconds: env.maxTimeoutSeconds,
      },
      rpcUrl: env.rpcUrl.value,
      finalTag: env.finalTag,
      settlement: settlement.value,
      walletFactories: env.walletFactories.filter(isAddress),
      cards: env.cards,
      patience: Duration.seconds(env.patience),
      sweepEvery: Duration.seconds(env.sweepEvery),
    }
  }
  return [
    ...(Option.isNone(env.payTo) ? [variable("PAY_TO")] : []),
    ...(Option.isNone(env.rpcUrl) ? [variable("RPC_URL")] : []),
    ...(Option.isNone(settlement) ? ["RELAYER_KEY or FACILITATOR_URL"] : []),
  ]
})

/** Where to listen and what to call it; both ways to run read these. */
export const listen = Config.map(
  Config.all({
    host: Config.String(variable("HOST")).pipe(Config.withDefault("127.0.0.1")),
    port: Config.Port(variable("PORT")).pipe(Config.withDefault(3000)),
    publicUrl: Config.option(Config.String(variable("PUBLIC_URL"))),
    trustedProxies: networks("TRUSTED_PROXIES"),
    rateLimitSecret: Config.option(
      Config.schema(Schema.Redacted(Schema.String.check(Schema.isMinLength(16))), variable("RATE_LIMIT_SECRET")),
    ),
  }),
  ({ host, port, publicUrl, rateLimitSecret, trustedProxies }) => ({
    host,
    port,
    trustedProxies,
    rateLimitSecret,
    publicUrl: Option.getOrElse(publicUrl, () => `http://${host.includes(":") ? `[${host}]` : host}:${port}`),
  }),
)

const refused = (message: string) => Config.fail(new ConfigProvider.SourceError({ message }))

/** The log is a key, and the name it has for life; without a key there is no log. */
const logAt = (publicUrl: string): Config.Config<LogConfig | undefined> =>
  Config.all({
    key: Config.option(Config.schema(Schema.Redacted(Schema.NonEmptyString), variable("LOG_KEY"))),
    origin: Config.NonEmptyString(variable("LOG_ORIGIN")).pipe(Config.withDefault(originOf(publicUrl))),
    checkpointFile: Config.option(Config.NonEmptyString(variable("LOG_CHECKPOINT_FILE"))),
    policyFile: Config.option(Config.NonEmptyString(variable("LOG_WITNESSES"))),
  }).pipe(
    Config.flatMap(({ checkpointFile, key, origin, policyFile }): Config.Config<LogConfig | undefined> => {
      if (Option.isNone(key)) return Config.succeed(undefined)
      const signer = fromText(key.value)
      if (Result.isFailure(signer)) return refused(`LOG_KEY is wrong: ${signer.failure.message}`)
      return signer.success.name === origin
        ? Config.succeed({
            signer: signer.success,
            origin,
            checkpointFile,
            ...Option.match(policyFile, { onNone: () => ({}), onSome: (file) => ({ policyFile: file }) }),
          })
        : refused(
            `LOG_KEY is the key of ${signer.success.name}, but this log is ${origin}: set LOG_ORIGIN to the key's name, or make a key for this one with spirit-altar log key.`,
          )
    }),
  )

/** A production server: nothing falls back to the sandbox. */
export const production: Config.Config<ServerConfig> = Config.flatMap(
  Config.all({ listen, databaseUrl: Config.Redacted(variable("DATABASE_URL")), payments }),
  ({ databaseUrl, listen: address, payments: paying }) =>
    Config.map(logAt(address.publicUrl), (log) => ({ ...address, databaseUrl, payments: paying, log })),
)
