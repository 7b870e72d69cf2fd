/** No secret lies in the repository: each value that looks like one is public, and listed here with its place. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { english } from "viem/accounts"
import { root, textOf } from "../lab/Sources.ts"

/** A copy of the sources without history has nothing that is ignored but what tools made. */
const walked = () =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !/(?:^|\/)(?:node_modules|dist|\.data|\.git|test-results|coverage)\//u.test(file))

const tracked = () => {
  try {
    return execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", stdio: "pipe" })
      .split("\0")
      .slice(0, -1)
  } catch {
    return walked()
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12)

const hex = digest("legal").repeat(6).slice(0, 64)

/** Each with an example, in pieces where the whole would be found here. */
const shapes: Readonly<Record<string, readonly [pattern: RegExp, example: string]>> = {
  "a private key, or what is as long": [/\b(0x[0-9a-fA-F]{64})\b/gu, `0x${hex}`],
  "a bare key": [/(?:key|secret|private)\w*["']?\s*[:=(]{1,2}\s*["'`]([0-9a-fA-F]{64})\b/giu, `relayerKey = "${hex}"`],
  "a PEM block": [/-----BEGIN [A-Z ]*PRIVATE KEY-----/gu, ["-----BEGIN", "EC PRIVATE KEY-----"].join(" ")],
  "a signer key of a log": [
    /\b(PRIVATE\+KEY\+[\w./-]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{40,})/gu,
    `PRIVATE+KEY+altar.example/log+0a1b2c3d+${"A".repeat(44)}`,
  ],
  "a mnemonic": [
    /["'`]((?:[a-z]{3,8} ){11,23}[a-z]{3,8})["'`]/gu,
    `"${Array.from({ length: 12 }, () => "legal").join(" ")}"`,
  ],
  "a token of a forge, a registry or a cloud": [
    /\b(gh[pousr]_\w{36}|github_pat_\w{50,}|glpat-[\w-]{20}|npm_[A-Za-z0-9]{36}|AKIA[A-Z0-9]{16}|xox[abprs]-[\w-]{10,}|AIza[\w-]{35})/gu,
    `ghp_${"a1".repeat(18)}`,
  ],
  "a key of a card processor": [
    /\b((?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,})\b/gu,
    `sk_live_${"a1".repeat(12)}`,
  ],
  "a JSON web token": [
    /\b(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})/gu,
    `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`,
  ],
  "a password of a database on another machine": [
    /postgres(?:ql)?:\/\/\w+:([^@\s/:"'`$]+)@(?!127\.0\.0\.1|localhost|host[:/]|h\/|db\/)/gu,
    ["postgres://altar:", "hush@db.example/altar"].join(""),
  ],
}

/** Known to everybody; by the first 12 digits of its SHA-256, so that this list finds nothing in itself. */
const known: Readonly<Record<string, string>> = {
  dd0102d1cd0c: "key of anvil's account 9",
  "59feecfa04eb": "key of anvil's account 5",
  b69d88ff1ad5: "key of anvil's account 6",
  f79cd64f9cea: "anvil's mnemonic",
  bb4978fbe763: "key of anvil's account 2",
  "0db98cd4ec7b": "the example of a refund's transaction in the contract",
  dd6fbdbb325c: "Tessera's fixture of a log",
  b03eeafab5d2: "Tessera's fixture of a witness",
  ecba679ebf42: "PeterNeumann, the example of Go's package note",
  "41bbe52737a6": "a public key of the same",
  "3a48d924940d": "the example of a transaction in the contract",
  "748e9d0a17b0": "the signed receipt of the example of a stone, which is public",
  aade75295d87: "the nonce of the example of a payment",
  "9fb35e9e445a": "topic of Transfer",
  "237f02594b72": "topic of AuthorizationUsed",
  b9941555bb82: "type of TransferWithAuthorization",
  "6a01649b011a": "type of ReceiveWithAuthorization",
  "6760f0b19f83": "type of CancelAuthorization",
  e34eeb4e2147: "half the order of secp256k1",
}

/** A sentence in quotes is no mnemonic unless each of its words is on the list of BIP 39. */
const words = new Set(english)
const isSecret = (shape: string, text: string) =>
  !(digest(text) in known) && (shape !== "a mnemonic" || text.split(" ").every((word) => words.has(word)))

const files = tracked().filter((file) => !/\.(?:png|ttf|woff2|ico|jpg)$/u.test(file) && existsSync(join(root, file)))

const secretsIn = (text: string, shape: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([all, secret = all]) => secret).filter((secret) => isSecret(shape, secret))

describe("the repository", () => {
  it("contains no secret", () => {
    const found = files.flatMap((file) => {
      const text = textOf(file)
      return Object.entries(shapes).flatMap(([shape, [pattern]]) =>
        secretsIn(text, shape, pattern).map((secret) => ({ file, shape, digest: digest(secret) })),
      )
    })
    assert.deepStrictEqual(found, [])
    assert.isAbove(files.length, 500)
  })

  it("would be flagged if it contained one", () => {
    for (const [shape, [pattern, example]] of Object.entries(shapes))
      assert.lengthOf(secretsIn(example, shape, pattern), 1, shape)
  })
})
