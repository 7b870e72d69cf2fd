/** A node of the reader's choice, asked with limits on size and time. */
import { Effect, Schema } from "effect"
import { HttpBody, HttpClientRequest } from "effect/http"
import { AddressText, HexText, Word } from "../../payments/chain/Eip3009.ts"
import { receiptLimit } from "../../platform/Answers.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import * as Download from "./Download.ts"

const ChainId = Schema.Struct({ result: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{1,12}$/iu)) })
const Mined = Schema.Struct({
  result: Schema.NullOr(
    Schema.Struct({
      status: Schema.String,
      blockNumber: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{1,16}$/iu)),
      logs: Schema.Array(Schema.Struct({ address: AddressText, topics: Schema.Array(Word), data: HexText })),
    }),
  ),
})
const Answered = Schema.Struct({ result: Word })

const ask = <A>(
  rpcUrl: string,
  schema: Schema.Decoder<{ readonly result: A }>,
  method: string,
  params: Schema.JsonArray,
) =>
  Download.answerOf(
    HttpClientRequest.setBody(
      HttpClientRequest.post(rpcUrl),
      HttpBody.text(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), "application/json"),
    ),
    // The payer decides how long the receipt is.
    receiptLimit,
  ).pipe(
    Effect.mapError(({ why }) => new CommandFailure({ message: plain(`${rpcUrl} could not be asked: ${why}`) })),
    Effect.flatMap((body) =>
      Effect.mapError(
        Schema.decodeEffect(Schema.fromJsonString(schema))(new TextDecoder().decode(body)),
        () => new CommandFailure({ message: `${rpcUrl} is not an EVM node` }),
      ),
    ),
    Effect.map(({ result }) => result),
  )

/** The CAIP-2 id of the node's network. */
export const networkOf = (rpcUrl: string) =>
  Effect.map(ask(rpcUrl, ChainId, "eth_chainId", []), (id) => `eip155:${BigInt(id)}`)

/** State and logs of a transaction; null where the node has none. */
export const minedIn = (rpcUrl: string, transaction: string) =>
  ask(rpcUrl, Mined, "eth_getTransactionReceipt", [transaction])

/** The one word that a contract answers to a call. */
export const wordFrom = (rpcUrl: string, to: string, data: string) =>
  ask(rpcUrl, Answered, "eth_call", [{ to, data }, "latest"])
