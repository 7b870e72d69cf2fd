/** `serve --check` says of the token what would refuse every payment. */
import { randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted, Result } from "effect"
import { type Statement, statementData, statementPurpose } from "../../schema/payments/KeyStatement.ts"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { main, run } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { payTo } from "../lab/buyer/Refunds.ts"
import { newFolder } from "../lab/Folders.ts"
import { direct } from "../lab/server/Environment.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { order } from "../lab/buyer/TokenIssuer.ts"
import { apart, assert } from "../lab/Suites.ts"

/** The line of a check. */
const checked = Effect.fnUntraced(function* (name = "token", more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", ...(yield* direct), ...more }
  const { stdout } = yield* Effect.promise(() => run([main, "serve", "--check", "--json"], { env }).ended)
  const { checks }: { readonly checks: ReadonlyArray<Record<string, string>> } = JSON.parse(stdout)
  return checks.find(({ check }) => check === name) ?? assert.fail(stdout)
})

/** A receipt key that the paid wallet authorized, without the stone that its file names. */
const authorized = Effect.gen(function* () {
  const { network } = yield* LocalChain
  const text = Result.getOrThrow(generate("receipts-1"))
  const { publicKey } = Result.getOrThrow(plainFrom(text))
  const did = "did:web:altar.example"
  const statement: Statement = {
    purpose: statementPurpose,
    did,
    kid: `${did}#receipts-1`,
    jwk: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") },
    payTo: `${network}:${payTo.address}`,
    log: null,
    notBefore: "2026-11-20T00:00:00.000Z",
    replaces: null,
  }
  const signature = yield* Effect.promise(() => payTo.signTypedData(statementData(statement)))
  const file = join(newFolder(), "authorizations.json")
  writeFileSync(file, JSON.stringify([{ statement, signature, type: "key", stone: randomUUID() }]))
  return {
    PUBLIC_URL: "https://altar.example",
    RECEIPT_KEY: Redacted.value(text),
    RECEIPT_AUTHORIZATIONS: file,
  }
})

apart("serve --check", stage, (it) => {
  it("fails for a paused token and for a blocked PAY_TO, and names the cause", function* () {
    const { payTo } = yield* LocalChain
    assert.strictEqual((yield* checked())["state"], "ok")
    yield* order(["pause"])
    const paused = yield* checked()
    assert.strictEqual(paused["state"], "failed")
    assert.match(paused["message"] ?? "", /paused all transfers/u)
    yield* order(["unpause"])
    yield* order(["blacklist", payTo])
    const blocked = yield* checked()
    assert.strictEqual(blocked["state"], "failed")
    assert.match(blocked["message"] ?? "", /blocked PAY_TO/u)
  })

  it("fails for an authorization without its stone, of which a start warns", function* () {
    const settings = yield* authorized
    const line = yield* checked("receipts", settings)
    assert.strictEqual(line["state"], "failed")
    assert.match(line["message"] ?? "", /receipts-1 is not set here, or seals something else/u)
    const server = yield* ServerProcess.make({ ...(yield* direct), ...settings })
    yield* server.start
    yield* server.says("receipt authorization unproven")
    const broken = { ...settings, RECEIPT_AUTHORIZATIONS: "/nowhere.json" }
    assert.match((yield* checked("receipts", broken))["message"] ?? "", /nowhere.json cannot be read/u)
  })
})
