/** A transaction on the sandbox's chain, as JSON: the receipt's `explorerUrl`. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { createPublicClient, http } from "viem"
import { NotFound } from "../../schema/Errors.ts"
import { jsonText, refuse } from "../http/Responses.ts"
import { LocalChain } from "./LocalChain.ts"

export const layer = HttpRouter.add(
  "GET",
  "/sandbox/transactions/:hash",
  Effect.gen(function* () {
    const { hash = "" } = yield* HttpRouter.params
    const { rpcUrl } = yield* LocalChain
    const receipt = yield* Effect.promise(() =>
      createPublicClient({ transport: http(rpcUrl) })
        .getTransactionReceipt({ hash: `0x${hash.slice(2)}` })
        .catch(() => null),
    )
    return receipt === null
      ? refuse(new NotFound({}))
      : jsonText(JSON.stringify({ ok: true, receipt }, (_, value) => (typeof value === "bigint" ? `${value}` : value)))
  }),
)
