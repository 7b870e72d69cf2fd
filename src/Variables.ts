/** The variables of a server, each named once, with what `--help` says of it: help must not load what reads them. */

/** What each means; those that only mean something together share one meaning. */
export const variables = [
  [["HOST"], "address to listen on (127.0.0.1)"],
  [["PORT"], "port to listen on (3000)"],
  [["PUBLIC_URL"], "the address the world knows this server by (http://HOST:PORT)"],
  [["DATABASE_URL"], "postgres://user:password@host:port/database (the sandbox brings its own)"],
  [["DATA_DIR"], "where the sandbox keeps its data (.data)"],
  [["TRUSTED_PROXIES"], "addresses or CIDRs whose X-Forwarded-For or Forwarded counts, comma separated (none)"],
  [
    ["RATE_LIMIT_SECRET"],
    "16 or more characters that addresses are made pseudonymous with (random, kept in the database)",
  ],
  [["LOG_KEY"], "private key of the transparency log, as `spirit-altar log key` makes it (none: no log)"],
  [["LOG_ORIGIN"], "name of the log and of its key, the same for its life (host of PUBLIC_URL, then /log)"],
  [
    ["LOG_CHECKPOINT_FILE"],
    "file that keeps the last signed checkpoint, so that a restored database forks nothing (none)",
  ],
  [["LOG_WITNESSES"], "policy file that names the witnesses of the log: keys, URLs, quorum (none)"],
  [["LOG_LEVEL"], "Trace, Debug, Info, Warn, Error, Fatal or None (Info)"],
  [["X402_NETWORK"], "eip155:8453, Base (default), or eip155:84532, its test network"],
  [["PAY_TO"], "address that receives the USDC, of this altar alone"],
  [["RPC_URL"], "JSON-RPC of the network, for evidence and for self-settlement"],
  [["RELAYER_KEY"], "private key that settles payments and pays their gas"],
  [["FACILITATOR_URL"], "x402 facilitator that settles instead of a relayer key"],
  [["FACILITATOR_CATALOGUES"], "true where it lists paid routes (bazaar): each 402 then says how it is called (false)"],
  [["CDP_API_KEY_ID", "CDP_API_KEY_SECRET"], "key of a facilitator that asks for one"],
  [["CHAIN_FINALITY"], "block tag from which nothing is taken back: finalized (default), safe or latest"],
  [
    ["WALLET_FACTORIES"],
    "factories whose smart wallets may be deployed by their first payment, comma separated (none)",
  ],
  [
    ["CARD_PROFILE_ID"],
    "profile that card tokens are granted to; with the next two, week and month candles take cards",
  ],
  [["CARD_SECRET_KEY"], "secret key at the card processor"],
  [["CARD_CHALLENGE_SECRET"], "32 or more characters that card challenges are made with, the same on all servers"],
  [["CARD_API_URL"], "the card processor (https://api.stripe.com)"],
  [["SETTLE_TIMEOUT_SECONDS"], "how long a settlement may take before its outcome counts as unknown (30)"],
  [["SWEEP_SECONDS"], "pause of the background reconciler (5)"],
  [
    ["MAX_TIMEOUT_SECONDS"],
    "life of an authorization that clients are asked for; one that lives 300 seconds longer is refused (300)",
  ],
] as const

export type Variable = (typeof variables)[number][0][number]

/** A name that the list has: what reads a variable cannot misspell it, nor leave it out of the help. */
export const variable = <const Name extends Variable>(name: Name): Name => name

/** The lines of `--help` for all variables, or for those that are named. */
export const variablesHelp = (only?: ReadonlyArray<Variable>): string =>
  variables
    .filter(([names]) => only === undefined || names.some((name) => only.includes(name)))
    .map(([names, meaning]) => `  ${names.join(", ")}: ${meaning}`)
    .join("\n")
