/** The altar's HttpApi: decodes every request and generates the OpenAPI document. */
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { ActsGroup } from "./altar/ActApi.ts"
import { CandlesGroup } from "./altar/Candle.ts"
import { CatalogsGroup } from "./altar/Catalog.ts"
import { GuideGroup } from "./altar/Guide.ts"
import { ReceiptsGroup } from "./altar/ReceiptFile.ts"
import { PaidGroup, PaymentsGroup } from "./altar/Sales.ts"
import { WalletsGroup } from "./altar/Wallet.ts"
import { promise, WitnessGroup } from "./altar/Witness.ts"
import { LogGroup } from "./log/LogApi.ts"
import { at, finish } from "./openapi/Document.ts"
import { ServiceGroup } from "./Health.ts"
import { RoomsGroup } from "./room/Api.ts"
import { interfaceVersion } from "./Version.ts"

export { interfaceVersion }

/** Rules of every endpoint: undocumented members are rejected, and a refusal lists all faults at once. */
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
    WalletsGroup,
    ReceiptsGroup,
    CatalogsGroup,
    PaymentsGroup,
    RoomsGroup,
    ServiceGroup,
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Spirit Altar",
      version: interfaceVersion,
      description: `${promise} Later, prove that its words existed on the day you paid. People and agents set such stones and make other small paid acts (x402 v2, USDC on Base). Each act is charged exactly once and recorded as a public row with its on-chain receipt. \`info.version\` is the version of this interface; \`/api/health\` also names that of the software.`,
      license: { name: "MIT", identifier: "MIT" },
      transform: finish,
    }),
  ) {}

/** The OpenAPI document of a contract, with a server's public URL in place of the example address. */
export const documentAt = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"spirit-altar", Groups>,
  publicUrl: string,
) => at(OpenApi.fromApi(api), publicUrl)
