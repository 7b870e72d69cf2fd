/** The commands around a purchase, loaded together. */
import { act } from "./Act.ts"
import { collect, light, pray, takeIn, witness } from "./Purchases.ts"
import { altar, purchases, reconcile, reveal, spirits, unseal } from "./Reads.ts"

export const buying = [
  witness,
  pray,
  takeIn,
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
