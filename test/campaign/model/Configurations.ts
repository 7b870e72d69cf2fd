/** The explored configurations: the purchases, the number of blocks, and the possible faults. */
import type { Configuration } from "./State.ts"

/** A signature is valid in the first of two blocks; steps that only read follow at once. */
const relayed = {
  adversary: { expiry: 2, height: 2, authorizations: "a" },
  requests: [{ key: "k1", authorization: "a" }],
  settles: "relayer",
  servers: 2,
  versions: 1,
  looksAreWhole: true,
} as const

const behind = { ...relayed, servers: 1, adversary: { ...relayed.adversary, lags: true } } as const

const twoKeys = {
  ...relayed,
  name: "two keys, one authorization, two servers",
  requests: [
    { key: "k1", authorization: "a" },
    { key: "k2", authorization: "a" },
  ],
} as const

const slot = {
  ...relayed,
  name: "a slot that changes hands, two servers",
  adversary: { ...relayed.adversary, height: 3, authorizations: "ab" },
  requests: [
    { key: "k1", authorization: "a", slot: "s" },
    { key: "k2", authorization: "b", slot: "s" },
  ],
} as const

const anew = {
  ...relayed,
  name: "a client that signs again when told to, clocks that differ, two servers",
  adversary: { ...relayed.adversary, height: 3, authorizations: "ab" },
  requests: [
    { key: "k1", authorization: "a" },
    { key: "k1", authorization: "b", after: { authorization: "a", told: "refused" } },
    { key: "k2", authorization: "b", after: { authorization: "a", told: "failed" } },
  ],
  purchase: "ab",
  clocksDiffer: true,
} as const

const replaced = {
  ...relayed,
  name: "a broadcast that is forgotten, replaced and comes back, two servers",
  adversary: { ...relayed.adversary, forgets: true },
  versions: 2,
} as const

const resent = {
  ...relayed,
  name: "a payment resubmitted after its block was orphaned, two servers",
  versions: 2,
} as const

const split = {
  ...behind,
  name: "a pair of calls answered by several nodes, and a payer who cancels",
  adversary: { ...behind.adversary, payerCancels: true },
  splitsBatches: true,
} as const

const facilitator = {
  ...behind,
  name: "a facilitator that lies, and money that moves",
  adversary: { ...behind.adversary, moneyMoves: true },
  settles: "facilitator",
} as const

const unheard = {
  ...relayed,
  name: "a facilitator that is unreachable or silent, and gets resubmissions, two servers",
  settles: "facilitator",
} as const

const group = {
  ...relayed,
  name: "two payments in one transaction, money that moves, two servers",
  adversary: { ...relayed.adversary, height: 3, authorizations: "b", moneyMoves: true },
  requests: [
    { key: "k1", authorization: "a" },
    { key: "k2", authorization: "b" },
  ],
  groups: true,
  versions: 2,
} as const

const emptied = {
  ...relayed,
  name: "a wallet that is emptied before its block",
  adversary: { ...relayed.adversary, expiry: 3, height: 3, moneyMoves: true },
  servers: 1,
} as const

const refilled = {
  ...emptied,
  name: "a wallet that is emptied before its block, can pay again and is charged late",
  adversary: { ...emptied.adversary, expiry: 5, height: 5, blocksStay: true },
} as const

/** Explored whole by every run of the tests. */
export const small = {
  oneKey: { ...relayed, name: "one key, two servers" },
  poor: {
    ...relayed,
    name: "one key, two servers, money that moves",
    adversary: { ...relayed.adversary, moneyMoves: true },
  },
  behind: { ...behind, name: "one key, a stale node" },
  cancelled: {
    ...behind,
    name: "a payer who cancels, a stale node",
    adversary: { ...behind.adversary, payerCancels: true },
  },
  replaced: { ...replaced, name: "a broadcast that is forgotten, replaced and comes back", servers: 1 },
  resent: { ...resent, name: "a payment resubmitted after its block was orphaned", servers: 1 },
  strayed: {
    ...twoKeys,
    name: "two keys, one authorization, also broadcast by its payer",
    servers: 1,
    adversary: { ...relayed.adversary, payerSends: true },
  },
  slot: { ...slot, name: "a slot that changes hands", servers: 1 },
  anew: { ...anew, name: "a client that signs again when told to, clocks that differ", servers: 1 },
  facilitator,
  unheard,
  split,
  emptied,
  refilled,
  group: {
    ...group,
    name: "two payments in one transaction",
    adversary: { ...group.adversary, moneyMoves: false },
    servers: 1,
  },
} as const satisfies Record<string, Configuration>

/** A facilitator that lies, where every node knows the newest block. */
export const steady: Configuration = { ...small.facilitator, adversary: { ...behind.adversary, lags: false } }

/** Explored by `npm run campaign -- model` as far as it goes. */
export const large = {
  twoKeys,
  slot,
  anew,
  replaced,
  resent,
  group,
  emptiedGroup: {
    ...group,
    name: "two payments in one transaction, and a wallet that is emptied before its block",
    adversary: { ...group.adversary, expiry: 4, height: 5, blocksStay: true },
    servers: 1,
  },
  stepwise: { ...relayed, name: "one key, two servers, each question a step", looksAreWhole: false },
  behind: {
    ...relayed,
    name: "one key, two servers, a stale node",
    adversary: { ...relayed.adversary, lags: true },
  },
  longer: {
    ...relayed,
    name: "one key, two servers, three blocks",
    adversary: { ...relayed.adversary, expiry: 3, height: 3 },
  },
  facilitator: {
    ...facilitator,
    name: "a facilitator that lies, and money that moves, four blocks",
    adversary: { ...facilitator.adversary, expiry: 4, height: 4 },
  },
} as const satisfies Record<string, Configuration>

/** Behaviour without a promise: worlds in which something breaks, and what. */
export const beyond: ReadonlyArray<Configuration & { readonly breaks: string }> = [
  {
    ...split,
    name: "a pair of calls answered by two nodes is trusted about finality",
    isStrict: true,
    breaks: "a settled act that is final was paid for good, and a lost one was not",
  },
]

/** The same, of worlds that only `npm run campaign -- model` has the time for. */
export const farBeyond: typeof beyond = [
  {
    ...anew,
    name: "a client that signs again under a new key while its first request is in flight",
    requests: [
      { key: "k1", authorization: "a" },
      { key: "k2", authorization: "b", after: { authorization: "a", told: "refused" } },
    ],
    breaks: "a purchase is charged at most once, however often its client signs as it is told",
  },
]
