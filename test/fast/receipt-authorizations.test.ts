/** A server starts with authorizations that hold, and with no others. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Result } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type Statement, statementData, statementPurpose } from "../../schema/payments/KeyStatement.ts"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { withAuthorizations } from "../../src/server/ReceiptAuthorizations.ts"
import { assert, describe, effect, valuesOf } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

const current = Result.getOrThrow(Result.flatMap(generate("receipts-1"), plainFrom))
const wallet = privateKeyToAccount(generatePrivateKey())
const did = "did:web:altar.example"
const good: Statement = {
  purpose: statementPurpose,
  did,
  kid: `${did}#receipts-1`,
  jwk: { kty: "OKP", crv: "Ed25519", x: Buffer.from(current.publicKey).toString("base64url") },
  payTo: `eip155:8453:${wallet.address}`,
  log: null,
  notBefore: "2026-11-20T00:00:00.000Z",
  replaces: null,
}
const stone = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

const signedBy = Effect.fnUntraced(function* (change: Partial<Statement>, by = wallet) {
  const statement = { ...good, ...change }
  return {
    statement,
    signature: yield* Effect.promise(() => by.signTypedData(statementData(statement))),
    type: "key",
    stone,
  }
})

const started = Effect.fnUntraced(function* (text: string) {
  const authorizationsFile = join(newFolder(), "authorizations.json")
  yield* Effect.promise(() => writeFile(authorizationsFile, text))
  const receipts = { current, retired: [], authorizationsFile }
  return yield* withAuthorizations({ payments: [], publicUrl: "https://altar.example", receipts })
}, Effect.scoped)

describe("a file of authorizations", () => {
  effect("is accepted when each statement is signed by its account", function* () {
    const read = yield* started(JSON.stringify([yield* signedBy({})]))
    assert.deepStrictEqual(valuesOf(read?.authorizations ?? [], "stone"), [stone])
  })

  const other = privateKeyToAccount(generatePrivateKey())
  effect.each<readonly [what: string, text: Effect.Effect<unknown>, says: RegExp]>([
    ["a statement for another host", signedBy({ did: "did:web:other.example" }), /other\.example.*PUBLIC_URL/u],
    ["an unknown key", signedBy({ kid: `${did}#receipts-9` }), /receipts-9 is neither in RECEIPT_KEY/u],
    ["another key under the name", signedBy({ jwk: { ...good.jwk, x: "A".repeat(43) } }), /neither in RECEIPT_KEY/u],
    ["another wallet's signature", signedBy({}, other), /is not signed by/u],
    ["no stone", Effect.map(signedBy({}), ({ stone: _, ...one }) => one), /JSON list/u],
    ["a member too many", Effect.map(signedBy({}), (one) => ({ ...one, more: 1 })), /JSON list/u],
  ])("is rejected with %s", function* ([, made, says]) {
    const { message } = yield* Effect.flip(started(JSON.stringify([yield* made])))
    assert.match(message, /^RECEIPT_AUTHORIZATIONS is wrong: /u)
    assert.match(message, says)
  })
})
