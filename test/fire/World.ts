/** All parts of a phase, as those who strike, buy and steal see them. */
import type { Answers } from "./Answers.ts"
import type { CardWire } from "./CardWire.ts"
import type { Chain, Wallet } from "./Chain.ts"
import type { Cluster } from "./Cluster.ts"
import type { Door } from "./Door.ts"
import type { FacilitatorWire } from "./FacilitatorWire.ts"
import type { PgWire } from "./PgWire.ts"
import type { RpcWire } from "./RpcWire.ts"
import type { Server } from "./Servers.ts"
import type { Standing } from "./Standing.ts"
import type { Tally } from "./Tally.ts"

export interface World {
  readonly settledBy: "relayer" | "facilitator"
  readonly database: string
  readonly cluster: Cluster
  readonly chain: Chain
  readonly pg: PgWire
  readonly rpc: RpcWire
  readonly facilitator: FacilitatorWire
  readonly cards: CardWire
  readonly door: Door
  readonly servers: ReadonlyArray<Server>
  readonly wallets: ReadonlyArray<Wallet>
  readonly answers: Answers
  readonly tally: Tally
  readonly standing: Standing
  /** The seller's URL for everybody. */
  readonly url: string
  /** By how many seconds the clock of the first server is ahead. */
  readonly skewSeconds: number
  readonly log: (line: string) => void
}
