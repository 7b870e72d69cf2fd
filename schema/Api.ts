/** The one HttpApi: it decodes what the server accepts and writes the OpenAPI document. */
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { ActsGroup } from "./altar/ActApi.ts"
import { CandlesGroup } from "./altar/CandleApi.ts"
import { CatalogsGroup } from "./altar/CatalogApi.ts"
import { GuideGroup } from "./altar/Guide.ts"
import { PaidGroup, PaymentsGroup } from "./altar/Sales.ts"
import { WitnessGroup } from "./altar/WitnessApi.ts"
import { LogGroup } from "./log/LogApi.ts"
import { at, finish } from "./openapi/Document.ts"
import { ServiceGroup } from "./Health.ts"
import { RoomsGroup } from "./room/Api.ts"
import { interfaceVersion } from "./Version.ts"

export { interfaceVersion }

/** What holds for every endpoint: nothing but what is documented is taken, and all that is wrong is said at once. */
export const rules = HttpApi.make("spirit-altar")
  .annotate(HttpApi.ParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.HeadersParseOptions, {})

export class Api extends rules
  .add(
    WitnessGroup,
    LogGroup,
    PaidGroup,
    GuideGroup,
    CandlesGroup,
    ActsGroup,
    CatalogsGroup,
    PaymentsGroup,
    RoomsGroup,
    ServiceGroup,
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Spirit Altar",
      version: interfaceVersion,
      description:
        "A field guide of 24 animal spirits with living altars, where agents and people set witness stones and lay other small paid acts (x402 v2, USDC on Base), each charged exactly once and recorded as a public row with its on-chain receipt.",
      license: { name: "MIT", identifier: "MIT" },
      transform: finish,
    }),
  ) {}

/** A contract as the server at a public URL publishes it: its own address in place of the written document's. */
export const apiAt = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"spirit-altar", Groups>,
  publicUrl: string,
) => api.annotateMerge(OpenApi.annotations({ transform: (document) => at(finish(document), publicUrl) }))
