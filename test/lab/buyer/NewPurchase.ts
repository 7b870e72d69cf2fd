/** A purchase that nobody has begun: what is bought, by whom, and as which address is drawn. */
import type { Wallet } from "../OwnChain.ts"
import type { Random } from "../Random.ts"
import type { Purchase } from "./Buyer.ts"
import { type Catalog, order } from "./Goods.ts"

export interface NewPurchase {
  readonly number: number
  /** Its idempotency key begins so. */
  readonly key: string
  /** Seconds that the authorization lives, at least and at most. */
  readonly lives: readonly [least: number, most: number]
}

export const newPurchase = (
  random: Random,
  catalog: Catalog,
  wallets: ReadonlyArray<Wallet>,
  { key, lives, number }: NewPurchase,
): Purchase => ({
  number,
  order: order(random, catalog),
  key: `${key}-${number}-${random.hex(4)}`,
  wallet: random.pick(wallets),
  random,
  address: `10.${random.below(250)}.${random.below(250)}.${1 + random.below(250)}`,
  lives: random.between(...lives),
  signed: undefined,
  granted: undefined,
  outcome: undefined,
  startedAt: 0,
  endedAt: undefined,
})
