/** Search takes what the site prints. */
import { Effect } from "effect"
import { ask, layer as world, newCommitment, TestServer, bought } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const stone = Effect.fnUntraced(function* (agentName: string) {
  return (yield* bought("/api/witness", { commitment: newCommitment(), agentName })).record
})

const search = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* TestServer
  const answer = yield* ask(`${url}/v2/search?q=${encodeURIComponent(words)}`, { redirect: "manual" })
  return { to: answer.headers.get("location"), text: answer.text, status: answer.status }
})

suite("search", world(), (it) => {
  it("finds a stone by its number, by its hashes whole or abbreviated, and by a pasted link", function* ({ url }) {
    const one = yield* stone("Wren of the Mill")
    const page = `/witness/${one.id}`
    const short = (hash: string) => `${hash.slice(0, 4)}…${hash.slice(-4)}`
    for (const words of [
      `#${one.sequence}`,
      `stone ${one.sequence}`,
      `Witness stone ${one.sequence}`,
      `${one.commitment.slice(0, 8)} … ${one.commitment.slice(-8)}`,
      one.id.toUpperCase(),
      `${url}${page}`,
      ` ${url}/api/acts/${one.id}?x=1 `,
      short(one.commitment),
      short(one.chainHash),
      one.commitment.slice(0, 12),
      `${one.chainHash.slice(0, 8)}...${one.chainHash.slice(-6)}`,
    ]) {
      assert.deepInclude(yield* search(words), { status: 303, to: page }, words)
    }
    const wrongEnd = yield* search(`${one.commitment.slice(0, 8)}…${one.commitment.at(-1) === "0" ? "1" : "0"}`)
    assert.strictEqual(wrongEnd.status, 200)
    assert.notInclude(wrongEnd.text.split('id="stones')[0] ?? "", `${page}">Witness stone`)
  })

  it("finds a wallet's purchases by its printed abbreviation, and says where it found none", function* () {
    const one = yield* stone("Ends of a wallet")
    const ends = `${one.payer.slice(0, 6)}…${one.payer.slice(-4)}`
    for (const words of [one.payer, one.payer.toUpperCase().replace("0X", "0x"), one.transaction])
      assert.include((yield* search(words)).text, `/witness/${one.id}`, words)
    for (const words of [ends, ends.toLowerCase().replace("…", " ... "), one.payer.slice(0, 12)]) {
      const { text } = yield* search(words)
      assert.include(text, `/witness/${one.id}">Ends of a wallet set witness stone ${one.sequence}`, words)
      assert.include(text, "All settled acts were searched for a wallet with these digits at its ends.")
    }
    const last = one.payer.slice(-1).toLowerCase()
    const { text } = yield* search(`${one.payer.slice(0, 20)}…${last === "0" ? "1" : "0"}`)
    assert.include(text, "No settled act was paid by a wallet with these digits at its ends. No spirit has this name.")
    assert.notInclude(text, "Ends of a wallet set")
  })

  it("is served at its old address too", function* ({ url }) {
    const moved = yield* ask(`${url}/v2/witness?q=%231%20%3Cb%3E&before=2`, { redirect: "manual" })
    assert.deepStrictEqual([moved.status, moved.headers.get("location")], [308, "/v2/search?q=%231+%3Cb%3E"])
  })

  it("finds a spirit and a public name in any spelling, and says what it searched", function* () {
    const one = yield* stone("Ada of Bade")
    for (const words of ["Moss Hare", "moss-hare", "MOSS HARE", "https://altar.example/v2/spirits/moss-hare#candles"]) {
      assert.deepInclude(yield* search(words), { status: 303, to: "/v2/spirits/moss-hare" }, words)
    }
    assert.include((yield* search("ADA OF bade")).text, `/witness/${one.id}`)
    // Digits of an unknown hash may still be a name.
    const named = yield* stone("decade")
    assert.include((yield* search("decade")).text, `/witness/${named.id}`)
    const nobody = yield* search("Nobody At All")
    assert.include(nobody.text, "All settled acts were searched for it as a public name")
    for (const [words, said] of [
      ["999999", "The chain has stones 1 to"],
      ["f".repeat(64), "Nothing found for"],
      ["00000000-0000-4000-8000-000000000000", "All settled acts were searched"],
      ["x".repeat(200), "All public texts were searched for these words"],
    ] as const)
      assert.include((yield* search(words)).text, said)
  })
})
