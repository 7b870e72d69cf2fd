/** A cosigner (C2SP tlog-witness) in memory: it signs what continues the last checkpoint that it signed. */
import { generateKeyPairSync, sign } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Effect, Exit, Scope } from "effect"
import { concat, fromBase64, hex, Malformed, utf8 } from "../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { keyTypes, parseNote, signatureLine } from "../../../schema/log/Note.ts"
import { verifierKeyOf } from "../../../src/log/Signer.ts"
import { extendsTree, rootOfNothing, sha256 } from "../../../src/log/Tree.ts"
import { isSignedBy, logVerifier, type Verifier } from "../../../src/log/Verifier.ts"
import { listening } from "../proxy/HttpServer.ts"
import { signer } from "./LogFixture.ts"

/** A new key under a name, whose lines may have any time. */
export const cosigningKey = (name: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const spki = publicKey.export({ format: "der", type: "spki" })
  const vkey = verifierKeyOf({ name, type: keyTypes.cosignature, publicKey: spki.subarray(-32) })
  const id = vkey.split("+")[1] ?? ""
  return {
    name,
    vkey,
    line: (text: string, seconds: number) => {
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      const signature = sign(null, utf8(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey)
      return signatureLine({ name, id, bytes: concat(time, signature) })
    },
  }
}

export type CosigningKey = ReturnType<typeof cosigningKey>

interface Held {
  readonly size: number
  readonly root: Uint8Array
  readonly note: string
}

const nothing: Held = { size: 0, root: rootOfNothing, note: "" }

interface Answer {
  readonly status: number
  readonly text: string
  readonly held?: Held
}

/** The answer to a request for a signature; `held` is what to remember. */
const answerTo = (body: string, logOf: (origin: string) => Verifier | undefined, heldOf: (origin: string) => Held) => {
  const end = body.indexOf("\n\n")
  const [first = "", ...lines] = body.slice(0, Math.max(end, 0)).split("\n")
  const old = Number(/^old (\d+)$/u.exec(first)?.[1] ?? Number.NaN)
  const hashes = lines.flatMap((line) => fromBase64(line) ?? [])
  const note = parseNote(body.slice(end + 2))
  if (note instanceof Malformed || Number.isNaN(old) || hashes.length < lines.length) return { status: 400, text: "" }
  const [origin = ""] = note.text.split("\n")
  const log = logOf(origin)
  if (log === undefined) return { status: 404, text: "" }
  if (!isSignedBy(note, log)) return { status: 403, text: "" }
  const checkpoint = parseCheckpoint(note.text)
  if (checkpoint instanceof Malformed || old > checkpoint.size) return { status: 400, text: "" }
  const held = heldOf(origin)
  if (old !== held.size) return { status: 409, text: `${held.size}\n` }
  if (!extendsTree(held, checkpoint, hashes)) return { status: 422, text: "" }
  return { status: 200, text: note.text, held: { ...checkpoint, note: body.slice(end + 2) } } satisfies Answer
}

const send = (response: ServerResponse, { status, text }: Answer) =>
  void response.writeHead(status, status === 409 ? { "content-type": "text/x.tlog.size" } : {}).end(text)

/** A cosigner on a real socket until its scope closes. Its memory outlives it. */
export const ownCosigner = Effect.fnUntraced(function* (
  name: string,
  { key = cosigningKey(name), memory = new Map<string, Held>(), port = 0 } = {},
) {
  const log = logVerifier(signer.vkey)
  const logOf = (origin: string) => (log instanceof Malformed || log.name !== origin ? undefined : log)
  const keyOf = (origin: string) => hex(sha256(utf8(origin)))
  const life = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(life, Exit.void))
  const url = yield* listening((body, response, { method, url: path = "" }) => {
    if (method === "GET") {
      const held = memory.get(path.split("/")[1] ?? "")
      return send(response, { status: held === undefined ? 404 : 200, text: held?.note ?? "" })
    }
    const answer: Answer = answerTo(body, logOf, (origin) => memory.get(keyOf(origin)) ?? nothing)
    if (answer.held === undefined) return send(response, answer)
    const line = key.line(answer.text, Math.floor(Date.now() / 1000))
    const [origin = ""] = answer.text.split("\n")
    memory.set(keyOf(origin), { ...answer.held, note: answer.held.note + line })
    return send(response, { status: 200, text: line })
  }, port).pipe(Scope.provide(life))
  return { name, key, memory, vkey: key.vkey, url, stop: Scope.close(life, Exit.void) }
})
