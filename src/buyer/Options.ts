/** The options of a buyer inside the library. */
import type { Journal } from "./core/Journal.ts"
import type { BuyerOptions } from "./Library.ts"

export type { Progress } from "./Library.ts"

/** The options of a buyer whose calls share a journal. */
export type Kept = BuyerOptions & { readonly journal: Journal }
