/** The commands around a purchase, loaded together. */
import { collect, light, pray, keep, witness } from "./Purchases.ts"
import { acts, reveal, unseal } from "./Reads.ts"
import { wallet } from "./ShowWallet.ts"

export const buying = [witness, pray, keep, collect, light, reveal, unseal, wallet, acts] as const
