/** What is sold and shown: the acts with their services, the chains they are linked in, and all that is read of them. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { PaidActs } from "../payments/PaidAct.ts"
import type { PublicUrl } from "../platform/PublicUrl.ts"
import { Acts, actServices, paidActs } from "./Acts.ts"
import { CandleWall } from "./candles/CandleWall.ts"
import { Catalogs } from "./collectibles/Catalogs.ts"
import { Items } from "./collectibles/Items.ts"
import { PublicationChain } from "./collectibles/PublicationChain.ts"
import { FieldGuide } from "./guide/FieldGuide.ts"
import { Reveals } from "./Reveals.ts"
import { WitnessChain } from "./witness/WitnessChain.ts"

const chains = Layer.mergeAll(WitnessChain.layer, PublicationChain.layer, Reveals.layer)

const reads = Layer.mergeAll(Acts.layer, FieldGuide.layer, CandleWall.layer, Catalogs.layer)

/** What is sold, made of the services of its own acts or of the database alone. */
export type Sold = Layer.Layer<PaidActs, never, Layer.Services<typeof paidActs> | PublicUrl | SqlClient.SqlClient>

/** Over a database, the terms of payment and a public URL. */
export const layer = (acts: Sold = paidActs) =>
  reads.pipe(
    Layer.provideMerge(acts),
    Layer.provideMerge(actServices),
    Layer.provideMerge(chains),
    Layer.provideMerge(Items.layer),
  )
