/** The recipe of a payment that is bound to its request, held to vectors in JavaScript and in Python. */
import { createHash } from "node:crypto"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { BindingSalt } from "../../schema/payments/Binding.ts"
import { bodyText, boundBytes, isMarked, nonceOf } from "../../schema/payments/BindingRecipe.ts"

const file = fileURLToPath(new URL("../lab/vectors/binding.json", import.meta.url))

const Vectors = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      what: Schema.String,
      method: Schema.String,
      url: Schema.String,
      body: Schema.Record(Schema.String, Schema.Json),
      salt: BindingSalt,
      bodySha256: Schema.String,
      nonce: Schema.String,
    }),
  ),
)
const vectors = Schema.decodeSync(Vectors)(readFileSync(file, "utf8"))

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest()

/** The recipe in Python's standard library, written from its description alone. */
const python = `
import base64, hashlib, json, sys
for v in json.load(open(sys.argv[1], encoding="utf-8")):
    body = json.dumps(v["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    salt = base64.urlsafe_b64decode(v["salt"] + "=" * (-len(v["salt"]) % 4))
    parts = ["spirit-altar/bound/1", v["method"], v["url"], hashlib.sha256(body.encode()).hexdigest()]
    digest = hashlib.sha256("\\0".join(parts).encode() + b"\\0" + salt).digest()
    print("0x" + (b"altar/b1" + digest[:24]).hex())
`

describe("a bound nonce", () => {
  it("follows the published vectors", () => {
    assert.isAtLeast(vectors.length, 4)
    for (const { body, bodySha256, method, nonce, salt, url, what } of vectors) {
      assert.strictEqual(sha256(bodyText(body)).toString("hex"), bodySha256, what)
      const preimage = boundBytes({ method, url, bodySha256 }, Buffer.from(salt, "base64url"))
      assert.strictEqual(nonceOf(sha256(preimage)), nonce, what)
      assert.isTrue(isMarked(nonce.toUpperCase()), what)
    }
  })

  it("follows the same vectors in Python", () => {
    const printed = execFileSync("python3", ["-I", "-c", python, file], { encoding: "utf8" })
    assert.deepStrictEqual(
      printed.trim().split("\n"),
      vectors.map(({ nonce }) => nonce),
    )
  })

  it("changes with every part of the request and with the salt", () => {
    const request = { method: "POST", url: "https://altar.example/api/witness", bodySha256: "a".repeat(64) }
    const salt = new Uint8Array(16)
    const nonces = [
      nonceOf(sha256(boundBytes(request, salt))),
      nonceOf(sha256(boundBytes({ ...request, method: "PUT" }, salt))),
      nonceOf(sha256(boundBytes({ ...request, url: `${request.url}?x` }, salt))),
      nonceOf(sha256(boundBytes({ ...request, bodySha256: "b".repeat(64) }, salt))),
      nonceOf(sha256(boundBytes(request, new Uint8Array(17)))),
    ]
    assert.strictEqual(new Set(nonces).size, nonces.length)
    assert.isFalse(isMarked(`0x${"0".repeat(64)}`))
  })
})
