/** The server's configuration from its environment. Secrets stay redacted. */
import { createHmac } from "node:crypto"
import { Config, Context, Duration, type Effect, Option, Redacted, Result } from "effect"
import type { IpNetwork } from "effect/net"
import * as Ceiling from "../../room/Ceiling.ts"
import * as Table from "./Table.ts"
import { usdc } from "../../../schema/payments/Usdc.ts"
import type { LogConfig } from "../../log/Log.ts"
import { isLoopback } from "../../http/Origins.ts"
import { fromText, originOf, plainFrom } from "../../log/Signer.ts"
import type { CardConfig, Configured, SettlementConfig } from "../../payments/Payments.ts"
import { relayerLimits } from "../../payments/x402/settle/Settlement.ts"
import type { OperatorConfig } from "../../platform/Operator.ts"
import type { PublishedKey, ReceiptKey, ReceiptKeysConfig } from "../../payments/Receipt.ts"
import type { Format } from "../../telemetry/LogLines.ts"
import type { TelemetryConfig } from "../../telemetry/Telemetry.ts"
import { database, refused } from "./Kinds.ts"

export interface ServerConfig {
  readonly host: string
  readonly port: number
  readonly publicUrl: string
  readonly databaseUrl: Redacted.Redacted<string>
  /** Proxies whose forwarding headers are trusted. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** The settings of payments, or the names of missing ones. */
  readonly payments: Configured
  /** The operator's name, contact and texts, if configured. */
  readonly operator?: OperatorConfig | undefined
  /** Limits on the number of rooms; the room's own defaults if absent. */
  readonly rooms?: Ceiling.CeilingConfig | undefined
  /** The transparency log over the stones; absent without a key. */
  readonly log?: LogConfig | undefined
  /** The keys of signed receipts; without them no receipt is signed. */
  readonly receipts?: ReceiptKeysConfig | undefined
  /** Makes it instead, once the socket is bound. */
  readonly makeLog?: Effect.Effect<LogConfig>
}

export class AppConfig extends Context.Service<AppConfig, ServerConfig>()("spirit-altar/AppConfig") {}

// Settings for processes under test. They are no part of the configuration, and no server is run with them.

/** Seconds between two rounds of the background reconciler. */
const sweepEvery = Config.map(Config.withDefault(Config.Finite("TEST_SWEEP_SECONDS"), 5), Duration.seconds)

/** Seconds until the outcome of a settlement counts as unknown. */
const patience = Config.map(Config.withDefault(Config.Finite("TEST_SETTLE_SECONDS"), 30), Duration.seconds)

/** The key of card challenges: the same on all servers, because it is derived from the processor's key. */
const challengeSecretOf = (secretKey: Redacted.Redacted<string>) =>
  Redacted.make(
    createHmac("sha256", Redacted.value(secretKey)).update("spirit-altar/card-challenge").digest("base64url"),
  )

/** Cards are configured completely or not at all. */
const cards: Config.Config<CardConfig | undefined> = Config.flatMap(
  Config.all(Table.cards),
  ({ profile, secretKey, ...rest }): Config.Config<CardConfig | undefined> => {
    if (Option.isNone(profile) && Option.isNone(secretKey)) return Config.succeed(undefined)
    return Option.match(Option.all({ profile, secretKey }), {
      onSome: (set) => Config.succeed({ ...rest, ...set, challengeSecret: challengeSecretOf(set.secretKey) }),
      onNone: () =>
        refused(
          `The configuration of cards is incomplete: set ${Option.isNone(profile) ? Table.cards.profile.name : Table.cards.secretKey.name} as well, or none of them.`,
        ),
    })
  },
)

const { databaseUrl: _, publicUrl, ...selling } = Table.sufficient

const environment = Config.all({ ...selling, ...Table.payment, cards, patience, sweepEvery })

const settlementOf = (env: Config.Success<typeof environment>): Option.Option<SettlementConfig> =>
  Option.orElse(
    Option.map(env.facilitatorUrl, (url): SettlementConfig => ({
      _tag: "Facilitator",
      url,
      key: Option.all({ id: env.keyId, secret: env.keySecret }),
    })),
    () =>
      Option.map(env.relayerKey, (privateKey): SettlementConfig => ({
        _tag: "Relayer",
        privateKey,
        limits: { inFlight: env.inFlight, gasAtRisk: relayerLimits.gasAtRisk },
      })),
  )

/** Payments are configured completely or not at all. Money has no default. */
export const payments: Config.Config<Configured> = Config.map(environment, (env) => {
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
        maxTimeoutSeconds: 300,
      },
      rpcUrl: env.rpcUrl.value,
      settlement: settlement.value,
      cards: env.cards,
      patience: env.patience,
      sweepEvery: env.sweepEvery,
    }
  }
  return [
    ...(Option.isNone(env.payTo) ? [selling.payTo.name] : []),
    ...(Option.isNone(env.rpcUrl) ? [selling.rpcUrl.name] : []),
    ...(Option.isNone(settlement) ? ["RELAYER_KEY or FACILITATOR_URL"] : []),
  ]
})

export const urlOf = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** The address to listen on and the public URL, for server and sandbox. */
export const listen = Config.map(
  Config.all({ ...Table.listening, publicUrl }),
  ({ host, port, publicUrl: named, rooms, ...others }) => ({
    ...others,
    rooms: { ...Ceiling.defaults, rooms },
    host,
    port,
    publicUrl: Option.getOrElse(named, () => urlOf(host, port)),
  }),
)

export const databaseUrl = Config.flatMap(Table.sufficient.databaseUrl, (given) =>
  Option.match(given, {
    onSome: (url) => Config.succeed(url),
    onNone: () => refused(`DATABASE_URL is not set: set it to ${database.expected}.`),
  }),
)

const operator: Config.Config<OperatorConfig> = Config.map(Config.all(Table.operator), ({ contact, ...others }) => ({
  ...others,
  contact: Option.map(contact, (to) => (/^(?:mailto|https):/u.test(to) ? to : `mailto:${to}`)),
}))

const logSigner = Config.flatMap(Table.log.key, (key) =>
  Option.isNone(key)
    ? Config.succeed(undefined)
    : Result.match(fromText(key.value), {
        onSuccess: (signer) => Config.succeed(signer),
        onFailure: ({ message }) => refused(`LOG_KEY is wrong: ${message}`),
      }),
)

/** The log: a key and its permanent name. Without a key there is no log. */
const logAt = (publicUrl: string): Config.Config<LogConfig | undefined> =>
  Config.flatMap(
    Config.all({ ...Table.log, signer: logSigner }),
    ({ checkpointFile, origin: named, policy, signer }): Config.Config<LogConfig | undefined> => {
      if (signer === undefined) return Config.succeed(undefined)
      const origin = Option.getOrElse(named, () => originOf(publicUrl))
      return signer.name === origin
        ? Config.succeed({ signer, origin, checkpointFile, publishSeconds: 10, policy: Option.getOrUndefined(policy) })
        : refused(
            `LOG_KEY is the key of ${signer.name}, but this log is ${origin}: set LOG_ORIGIN to the key's name, or make a key for this one with spirit-altar log key.`,
          )
    },
  )

const renamed = Object.entries(Table.renamed).map(([earlier, name]) =>
  Config.flatMap(Config.option(Config.String(earlier)), (value) =>
    Option.isNone(value) ? Config.succeed(undefined) : refused(`${earlier} is named ${name} now: rename it.`),
  ),
)

/** A key's name is the fragment of a DID URL. */
const isName = (name: string) => /^[A-Za-z0-9._-]{1,64}$/u.test(name)

/** did:web reads `/.well-known/did.json` by HTTPS; a server of one machine may use HTTP. */
const isHost = (publicUrl: string) => publicUrl.startsWith("https:") || isLoopback(publicUrl)

const areDistinct = (keys: ReadonlyArray<PublishedKey>) =>
  [keys.map(({ name }) => name), keys.map(({ publicKey }) => String(publicKey))].every(
    (all) => new Set(all).size === all.length,
  )

const keyIn = (text: Redacted.Redacted<string>): Config.Config<ReceiptKey> =>
  Result.match(plainFrom(text), {
    onSuccess: (key) =>
      isName(key.name)
        ? Config.succeed<ReceiptKey>(key)
        : refused("RECEIPT_KEY is wrong: expected a key whose name has 1 to 64 of A-Z a-z 0-9 . _ -"),
    onFailure: ({ message }) => refused(`RECEIPT_KEY is wrong: ${message}`),
  })

const checked = ({ current, retired }: ReceiptKeysConfig) => {
  if (!retired.every(({ name }) => isName(name))) {
    return refused("RECEIPT_KEYS_RETIRED is wrong: expected keys whose names have 1 to 64 of A-Z a-z 0-9 . _ -")
  }
  return areDistinct([...(current === undefined ? [] : [current]), ...retired])
    ? Config.succeed({ current, retired })
    : refused("RECEIPT_KEYS_RETIRED is wrong: expected other keys than RECEIPT_KEY under other names, each once.")
}

const receipts: Config.Config<ReceiptKeysConfig | undefined> = Config.flatMap(
  Config.all({ ...Table.receipts, logKey: Table.log.key, publicUrl: Table.sufficient.publicUrl }),
  ({ key, logKey, publicUrl, retired }): Config.Config<ReceiptKeysConfig | undefined> => {
    if (Option.isNone(key) && retired.length === 0) return Config.succeed(undefined)
    if (Option.isNone(publicUrl) || !isHost(publicUrl.value)) {
      return refused("RECEIPT_KEY needs PUBLIC_URL: an https URL, where did.json is read.")
    }
    if (Option.isNone(key)) return checked({ retired })
    if (Option.isSome(logKey) && Redacted.value(key.value) === Redacted.value(logKey.value)) {
      return refused("RECEIPT_KEY is wrong: expected another key than LOG_KEY, which signs checkpoints alone.")
    }
    return Config.flatMap(keyIn(key.value), (current) => checked({ current, retired }))
  },
)

/** The errors of one part of the configuration, one per line; empty if it can be read. */
const problemsOf = (part: Config.Config<unknown>): Config.Config<ReadonlyArray<string>> =>
  Config.orElse(
    Config.map(part, () => []),
    ({ cause: { message } }) => Config.succeed(message.split("\n")),
  )

/** The variable that a line is about, otherwise the line itself. */
const subjectOf = (line: string) => /^([A-Z0-9_]+) is /u.exec(line)?.[1] ?? line

/** Fails with the errors of all parts at once. An error found by several parts is reported by the last of them. */
const readable = (parts: ReadonlyArray<Config.Config<unknown>>): Config.Config<void> =>
  Config.flatMap(Config.all(parts.map(problemsOf)), (lists) => {
    const problems = new Map(
      lists
        .flat()
        .toReversed()
        .map((line) => [subjectOf(line), line]),
    )
    return problems.size > 0 ? refused([...problems.values()].toReversed().join("\n")) : Config.succeed(undefined)
  })

/** Whether every variable of a sandbox can be read. */
export const rehearsable = readable(Table.rehearsing)

/** The configuration of a production server, without any fallback to the sandbox. Reports all errors at once. */
export const production: Config.Config<ServerConfig> = Config.flatMap(
  readable([
    databaseUrl,
    ...Table.serving,
    ...renamed,
    logSigner,
    receipts,
    cards,
    Config.flatMap(listen, ({ publicUrl: named }) => logAt(named)),
  ]),
  () =>
    Config.flatMap(
      Config.all({ listen, databaseUrl, payments, operator, receipts }),
      ({ listen: address, ...others }) =>
        Config.map(logAt(address.publicUrl), (log) => ({ ...address, ...others, log })),
    ),
)

/** Log lines and the metrics port. A server writes JSON, and a sandbox text for people. */
export const telemetry = (format: Format): Config.Config<TelemetryConfig> =>
  Config.map(Config.all({ log: Config.all(Table.lines), metrics: Table.metrics.at }), ({ log, metrics }) => ({
    log: { ...log, format },
    metricsPort: Option.getOrUndefined(metrics),
  }))
