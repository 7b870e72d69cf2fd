/** The altar as a layer: acts with their services, chains and reads. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { PaidActs } from "../payments/Act.ts"
import type { PublicUrl } from "../platform/PublicUrl.ts"
import { Acts, actServices, paidActs } from "./Acts.ts"
import { CandleWall } from "./candles/CandleWall.ts"
import { Catalogs } from "./collectibles/Catalogs.ts"
import { Items } from "./collectibles/Items.ts"
import { PublicationChain } from "./collectibles/PublicationChain.ts"
import { FieldGuide } from "./guide/FieldGuide.ts"
import { Reveals } from "./Reveals.ts"
import { SignedActs } from "./SignedActs.ts"
import { WitnessChain } from "./witness/WitnessChain.ts"

const chains = Layer.mergeAll(WitnessChain.layer, PublicationChain.layer, Reveals.layer)

const reads = Layer.mergeAll(Acts.layer, SignedActs.layer, FieldGuide.layer, CandleWall.layer, Catalogs.layer)

/** The acts of an altar, built on their own services or on the database alone. */
export type SoldActs = Layer.Layer<PaidActs, never, Layer.Services<typeof paidActs> | PublicUrl | SqlClient.SqlClient>

/** The altar over a database, payment terms and a public URL. */
export const layer = (acts: SoldActs = paidActs) =>
  reads.pipe(
    Layer.provideMerge(acts),
    Layer.provideMerge(actServices),
    Layer.provideMerge(chains),
    Layer.provideMerge(Items.layer),
  )
