/** All routes of the altar: one file for each resource, and one for all paid routes. */
import { PaidGroup } from "../../schema/altar/Sales.ts"
import * as ActsHttp from "./ActsHttp.ts"
import * as CandlesHttp from "./candles/Http.ts"
import * as CollectiblesHttp from "./collectibles/Http.ts"
import * as GuideHttp from "./guide/Http.ts"
import * as PaidRoutes from "./PaidRoutes.ts"
import * as WitnessHttp from "./witness/Http.ts"

export const handlers = [
  WitnessHttp.handlers,
  CandlesHttp.handlers,
  CollectiblesHttp.handlers,
  GuideHttp.handlers,
  ActsHttp.handlers,
  PaidRoutes.routes(PaidGroup),
  PaidRoutes.payments,
] as const
