/** Home's example is this altar's newest revealed stone, and its fingerprint is computed anew. */
import { assert } from "@effect/vitest"
import { seal } from "../../src/altar/Hashes.ts"
import { guide, createAct } from "../lab/browser/Guide.ts"
import { ask, post } from "../lab/Fixture.ts"

guide("the example on home", (it) => {
  it("shows one changed letter as changed, and the original as original", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/")
    const example = page.locator(".example")
    const words = example.getByLabel("Words")
    const recorded = await example.locator("[data-example]").getAttribute("data-example")
    assert.strictEqual(recorded, seal("5f0c9a1be27d4438", await words.inputValue()))
    await example.getByText("An example; no one has set it here.").waitFor()

    const [salt, text] = ["fedcba9876543210", "<b>Snow</b> before\nthe ninth."]
    const stone = await run(createAct("/api/witness", { commitment: seal(salt, text), kind: "prediction" }))
    await run(ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text })))
    await page.reload()
    assert.strictEqual(await words.inputValue(), text)
    await example.getByText("It matches.").waitFor()
    await words.fill(`${text}!`)
    await example.getByText("It does not match.").waitFor()
    assert.strictEqual(await example.locator("[data-computed]").innerText(), seal(salt, `${text}!`))
    await words.fill(text)
    await example.getByText("It matches.").waitFor()
  })
})
