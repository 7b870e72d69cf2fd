/** Faulty cosigners of a log on real sockets, and policies of cosigners. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer } from "effect"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { Cosigners } from "../../../src/log/Cosigners.ts"
import { signer } from "./LogFixture.ts"
import { cosigningKey } from "./Cosigner.ts"
import { patience } from "../Patience.ts"
import { type Answering, listening } from "../proxy/HttpServer.ts"

/** A cosigner with these answers, and the number of requests for its signature. */
export const strangeCosigner = Effect.fnUntraced(function* (name: string, answer: Answering, key = cosigningKey(name)) {
  const requests = { times: 0 }
  const url = yield* listening((body, response, request) => {
    if (request.method === "POST") requests.times += 1
    answer(body, response, request)
  })
  return { name, key, vkey: key.vkey, url, requests }
})

export interface Named {
  readonly name: string
  readonly vkey: string
  readonly url: string
}

export const policyFrom = (...lines: ReadonlyArray<string>): Policy => {
  const policy = parsePolicy(lines.join("\n"))
  if (policy instanceof Malformed) throw new Error(policy.message)
  return policy
}

/** The policy of these cosigners; the quorum is `all` or `any` of them, one by its name, or `none`. */
export const policyOf = (cosigners: ReadonlyArray<Named>, quorum: string) =>
  policyFrom(
    ...cosigners.map(({ name, url, vkey }) => `witness ${name} ${vkey} ${url}`),
    ...(quorum === "all" || quorum === "any"
      ? [`group enough ${quorum} ${cosigners.map(({ name }) => name).join(" ")}`, "quorum enough"]
      : [`quorum ${quorum}`]),
  )

/**
 * The log's side, asking over real sockets. The timeout is longer than a server's: a
 * cosigner of the tests shares its process with all others.
 */
export const cosignersOf = (policy: Policy, waitsMs = patience(10)) =>
  Cosigners.layer(policy, signer.vkey, waitsMs).pipe(Layer.provide(NodeHttpClient.layerUndici), Layer.orDie)
