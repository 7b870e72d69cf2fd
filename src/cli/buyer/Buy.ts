/** The commands around a purchase, loaded together. */
import { collect, light, pray, takeIn, witness } from "./Purchases.ts"
import { purchases, reconcile, reveal, unseal } from "./Reads.ts"

export const buying = [witness, pray, takeIn, collect, light, reveal, unseal, reconcile, purchases] as const
