/** Policies of a log mean one thing, and a stopped log is explained by what was found. */
import { assert, describe, it } from "@effect/vitest"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../schema/log/Policy.ts"
import { golden, renamed } from "../lab/log/Vectors.ts"
import { cosignerOf } from "../lab/log/Witness.ts"
import { policyFrom } from "../lab/log/Witnesses.ts"
import { assertEach } from "../lab/Assertions.ts"

const keys = Array.from({ length: 5 }, (_, at) => cosignerOf(`w${at}.example`).vkey)

const five = keys.map((vkey, at) => `witness w${at} ${vkey}${at === 0 ? " https://w0.example/x/" : ""}`)

const twoKeys = [...five, ...[5, 6].map((at) => `witness w${at} ${cosignerOf("one.example").vkey}`)]

const met = (policy: Policy, ...signed: ReadonlyArray<number>) =>
  policy.isMet(new Set(signed.map((at) => keys[at] ?? "")))

describe("a witness policy", () => {
  it("counts witnesses and groups of them", () => {
    const policy = policyFrom(
      "# who may be believed",
      `log ${golden.vkey} https://altar.example/log`,
      ...five,
      "",
      "group ours any w0 w1",
      "group theirs 2 w2 w3 w4",
      "group both all ours theirs",
      "quorum both",
    )
    assert.deepStrictEqual(policy.logs, [golden.vkey])
    assertEach(policy.witnesses.slice(0, 2), ({ name, url }) => [name, url], [
      ["w0", "https://w0.example/x"],
      ["w1", undefined],
    ])
    assert.isTrue(met(policy, 1, 2, 4))
    for (const signed of [[], [0, 1], [2, 3, 4], [0, 2], [1, 4]]) assert.isFalse(met(policy, ...signed), `${signed}`)
  })

  it("requires one witness, or none, and counts two keys of one witness once", () => {
    assert.isTrue(met(policyFrom(...five, "quorum none")))
    const one = policyFrom(...five, "quorum w3")
    assert.deepStrictEqual([met(one, 3), met(one, 0, 1, 2, 4)], [true, false])
    policyFrom(...twoKeys, "group w any w5 w6", "group g 2 w w0", "quorum g")
  })

  it.each([
    ["no quorum", five],
    ["two quorums", [...five, "quorum none", "quorum w0"]],
    ["an unknown quorum", [...five, "quorum w9"]],
    ["an unknown member", [...five, "group g any w0 w9", "quorum g"]],
    ["a member named twice", [...five, "group g 2 w0 w0", "quorum g"]],
    ["a member of two groups", [...five, "group g any w0 w1", "group h any w0 w2", "group i 2 g h", "quorum i"]],
    ["two keys of one witness that count twice", [...twoKeys, "group g 2 w5 w6", "quorum g"]],
    [
      "two keys of one witness in groups that count twice",
      [...twoKeys, "group g any w0 w5", "group h all g w6", "quorum h"],
    ],
    ["a member named below", [...five, "group g any h", "group h any w0", "quorum g"]],
    ["more than there are", [...five, "group g 3 w0 w1", "quorum g"]],
    ["none of them", [...five, "group g 0 w0 w1", "quorum g"]],
    ["a name twice", [...five, `witness w0 ${cosignerOf("w.example").vkey}`, "quorum none"]],
    ["a key twice", [...five, `witness w9 ${keys[0] ?? ""}`, "quorum none"]],
    ["none as a name", [`witness none ${keys[0] ?? ""}`, "quorum none"]],
    ["a key twice, under two names", [...five, `witness w9 ${renamed(keys[0] ?? "", "w9.example")}`, "quorum none"]],
    ["a log's key for a witness", [`witness w ${golden.vkey}`, "quorum w"]],
    ["a witness's key for a log", [`log ${keys[0] ?? ""}`, "quorum none"]],
    ["an unknown word", ["mirror x", "quorum none"]],
    ["a strange URL", [`witness w ${keys[0] ?? ""} file:///etc/passwd`, "quorum w"]],
  ])("with %s is rejected", (_, lines) => {
    assert.instanceOf(parsePolicy(lines.join("\n")), Malformed)
  })
})
