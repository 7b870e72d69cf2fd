/** The recipe of a payment that is bound to its request, held to vectors in JavaScript and in Python. */
import { createHash } from "node:crypto"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { BindingSalt } from "../../schema/payments/Binding.ts"
import { bindNonce } from "../../src/buyer/index.ts"
import { bodyText, boundBytes, isMarked, nonceOf } from "../../schema/payments/BindingRecipe.ts"

const page = readFileSync(new URL("../../docs/request-binding.md", import.meta.url), "utf8")
const [published = ""] = /(?<=^## Vectors\n\n```json\n)[^`]+/mu.exec(page) ?? []

const Vectors = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      method: Schema.String,
      url: Schema.String,
      body: Schema.Record(Schema.String, Schema.Json),
      salt: BindingSalt,
      nonce: Schema.String,
    }),
  ),
)
const vectors = Schema.decodeSync(Vectors)(published)

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest()

/** The recipe in Python's standard library, written from its description alone. */
const python = `
import base64, hashlib, json, sys
for v in json.loads(sys.argv[1]):
    body = json.dumps(v["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    salt = base64.urlsafe_b64decode(v["salt"] + "=" * (-len(v["salt"]) % 4))
    parts = ["spirit-altar/bound/1", v["method"], v["url"], hashlib.sha256(body.encode()).hexdigest()]
    digest = hashlib.sha256("\\0".join(parts).encode() + b"\\0" + salt).digest()
    print("0x" + (b"altar/b1" + digest[:24]).hex())
`

describe("a bound nonce", () => {
  it("follows the vectors of its page, by the server and by the library", async () => {
    assert.isAtLeast(vectors.length, 4)
    for (const { body, method, nonce, salt, url } of vectors) {
      const bodySha256 = sha256(bodyText(body)).toString("hex")
      const preimage = boundBytes({ method, url, bodySha256 }, Buffer.from(salt, "base64url"))
      assert.strictEqual(nonceOf(sha256(preimage)), nonce, url)
      assert.strictEqual(await bindNonce({ method, url, body: JSON.stringify(body) }, salt), nonce, url)
      assert.isTrue(isMarked(nonce.toUpperCase()), url)
    }
  })

  it("follows the same vectors in Python", () => {
    const printed = execFileSync("python3", ["-I", "-c", python, published], { encoding: "utf8" })
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
