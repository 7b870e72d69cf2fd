/** All parts of a phase, as those who strike, buy and steal see them. */
import type { Answers } from "../../lab/buyer/Answers.ts"
import type { CardProcessor } from "../../lab/proxy/CardProcessor.ts"
import type { Chain, Wallet } from "../../lab/OwnChain.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import type { Door } from "../../lab/proxy/Tcp.ts"
import type { Facilitator } from "../../lab/proxy/Facilitator.ts"
import type { PostgresProxy } from "../../lab/proxy/Postgres.ts"
import type { NodeProxy } from "../../lab/proxy/Node.ts"
import type { Server } from "../../lab/server/ServerProcess.ts"
import type { Standing } from "./Standing.ts"
import type { Tally } from "./Tally.ts"

export interface World {
  readonly settledBy: "relayer" | "facilitator"
  readonly database: string
  readonly cluster: Cluster
  readonly chain: Chain
  readonly pg: PostgresProxy
  readonly rpc: NodeProxy
  readonly facilitator: Facilitator
  readonly cards: CardProcessor
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
