/** Search takes what the site prints. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, newCommitment, newPayer, pay, World, layer as world } from "../support/World.ts"

const stone = Effect.fnUntraced(function* (agentName: string) {
  const { url } = yield* World
  const body = { commitment: newCommitment(), agentName }
  const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, body)
  const { record }: { readonly record: Record<"id" | "sequence" | "chainHash", string> } = JSON.parse(answer.text)
  return { ...record, commitment: body.commitment }
})

const search = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* World
  const answer = yield* ask(`${url}/v2/witness?q=${encodeURIComponent(words)}`, { redirect: "manual" })
  return { to: answer.headers.get("location"), text: answer.text, status: answer.status }
})

layer(world(), { excludeTestServices: true })("search", (it) => {
  it.effect("finds a stone by its number, its hashes whole or by their ends, and a pasted link", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const one = yield* stone("Wren of the Mill")
      const page = `/witness/${one.id}`
      const short = (hash: string) => `${hash.slice(0, 4)}…${hash.slice(-4)}`
      for (const words of [
        `#${one.sequence}`,
        `stone ${one.sequence}`,
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
    }),
  )

  it.effect("finds a spirit and a public name, however they are spelled, and says what it searched", () =>
    Effect.gen(function* () {
      const one = yield* stone("Ada of Bade")
      for (const words of ["Moss Hare", "moss-hare", "MOSS HARE"]) {
        assert.deepInclude(yield* search(words), { status: 303, to: "/v2/spirits/moss-hare" }, words)
      }
      assert.include((yield* search("ADA OF bade")).text, `/witness/${one.id}`)
      // Digits of a hash that nobody has may still be a name.
      const named = yield* stone("decade")
      assert.include((yield* search("decade")).text, `/witness/${named.id}`)
      const nobody = yield* search("Nobody At All")
      assert.include(nobody.text, "all settled acts were searched for it as a public name")
      assert.include((yield* search("x".repeat(200))).text, "so nothing was searched")
    }),
  )
})
