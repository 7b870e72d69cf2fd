/** The commands around a purchase, loaded together. */
import { act } from "./Act.ts"
import { collect, keep, light, pray, witness } from "./Purchases.ts"
import { altar, purchases, reconcile, reveal, spirits, unseal } from "./Reads.ts"

export const buying = [
  witness,
  pray,
  keep,
  collect,
  light,
  act,
  reveal,
  unseal,
  reconcile,
  purchases,
  spirits,
  altar,
] as const
