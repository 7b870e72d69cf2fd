/** Witnesses of a log on real sockets: our own, and faulty ones. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Exit, Layer, Result, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { cosignerFrom, generate } from "../../../src/log/Signer.ts"
import { logVerifier } from "../../../src/log/Verifier.ts"
import * as WitnessHttp from "../../../src/log/witness/Http.ts"
import { Memory } from "../../../src/log/witness/Memory.ts"
import { Witness } from "../../../src/log/witness/Witness.ts"
import { Witnesses } from "../../../src/log/Witnesses.ts"
import * as Listener from "../../../src/http/Listener.ts"
import { signer } from "./LogFixture.ts"
import { patience } from "../Patience.ts"
import { type Answering, listening } from "../proxy/HttpServer.ts"
import { newFolder } from "../Folders.ts"

/** A new key under a name, an Ed25519 one unless told otherwise. */
export const cosignerOf = (name: string, type?: Parameters<typeof generate>[1]) =>
  Result.getOrThrow(Result.flatMap(generate(name, type), cosignerFrom))

const verifierOf = (vkey: string) => {
  const verifier = logVerifier(vkey)
  if (verifier instanceof Malformed) throw new Error(verifier.message)
  return verifier
}

/** Our own witness, until its scope closes. */
export const ownWitness = Effect.fnUntraced(function* (
  name: string,
  { cosigner = cosignerOf(name), folder = newFolder(), logs = [signer.vkey], port = 0 } = {},
) {
  const life = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(life, Exit.void))
  const listening = yield* Layer.buildWithScope(
    Listener.drained.pipe(
      Layer.provide(HttpRouter.serve(WitnessHttp.layer, { disableLogger: true, disableListenLog: true })),
      Layer.provide(Witness.layer({ cosigner, logs: logs.map(verifierOf) })),
      Layer.provide(Memory.folder(folder)),
      Layer.provide(NodeFileSystem.layer),
      Layer.provideMerge(Listener.layer({ host: "127.0.0.1", port })),
    ),
    life,
  )
  const url = HttpServer.formatAddress(Context.get(listening, HttpServer.HttpServer).address)
  return { name, cosigner, folder, vkey: cosigner.vkey, url, stop: Scope.close(life, Exit.void) }
})

/** A socket that answers whatever it likes; how often it was asked for a signature. */
export const strangeWitness = Effect.fnUntraced(function* (
  name: string,
  answer: Answering,
  cosigner = cosignerOf(name),
) {
  const asked = { times: 0 }
  const url = yield* listening((body, response, request) => {
    if (request.method === "POST") asked.times += 1
    answer(body, response, request)
  })
  return { name, cosigner, vkey: cosigner.vkey, url, asked }
})

interface Named {
  readonly name: string
  readonly vkey: string
  readonly url: string
}

export const policyFrom = (...lines: ReadonlyArray<string>): Policy => {
  const policy = parsePolicy(lines.join("\n"))
  if (policy instanceof Malformed) throw new Error(policy.message)
  return policy
}

/** The policy of these witnesses; the quorum is `all` or `any` of them, one by its name, or `none`. */
export const policyOf = (witnesses: ReadonlyArray<Named>, quorum: string) =>
  policyFrom(
    ...witnesses.map(({ name, url, vkey }) => `witness ${name} ${vkey} ${url}`),
    ...(quorum === "all" || quorum === "any"
      ? [`group enough ${quorum} ${witnesses.map(({ name }) => name).join(" ")}`, "quorum enough"]
      : [`quorum ${quorum}`]),
  )

/**
 * The log's side, asking over real sockets. A witness is waited for longer than a server does: one of ours shares its
 * process and its disk with all other tests.
 */
export const witnessesOf = (policy: Policy, waitsMs = patience(10)) =>
  Witnesses.layer(policy, signer.vkey, waitsMs).pipe(Layer.provide(NodeHttpClient.layerUndici), Layer.orDie)
