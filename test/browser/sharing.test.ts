/** Shared in a browser: a certificate on one sheet that proves by itself, a badge in another site's page, metadata for machines. */
import { execFileSync } from "node:child_process"
import { assert } from "@effect/vitest"
import { Option } from "effect"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { verifyProof } from "../../src/buyer/log/StoneProof.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, loggedStone } from "../lab/browser/Guide.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import { readQrCode } from "../lab/browser/QrCode.ts"
import { ask, post } from "../lab/Fixture.ts"

const fitsOneSheet = async (page: Page) => {
  for (const format of ["A4", "Letter"] as const) {
    const pdf = await page.pdf({ format })
    assert.strictEqual(pdf.toString("latin1").match(/\/Type\s*\/Page\b/gu)?.length, 1, format)
  }
}

const computedBy = (shell: string | undefined) =>
  execFileSync("sh", ["-c", shell ?? ""], { encoding: "utf8" }).split(" ")[0]

guide(
  "on shared pages,",
  (it) => {
    it("a certificate fits one sheet, which suffices to check the stone and its words", async ({ visit, url, run }) => {
      const salt = "-n 5% of \\000 it's $SALT\r\n"
      const words = `-e It's 100% "true" \\n \\047 $HOME \`id\`:\n${"Wren ".repeat(60)}`.slice(0, 279).concat(".")
      const { id } = await run(loggedStone({ commitment: seal(salt, words), agentName: "Wren" }))
      const { stone } = JSON.parse((await run(ask(`${url}/api/witness/${id}`))).text)
      const { page } = await visit(`/witness/${id}/certificate`, { bypassCSP: true })
      await fitsOneSheet(page)
      const commands = page.locator("pre.shell")
      assert.strictEqual(computedBy((await commands.allTextContents())[0]), stone.chainHash)
      const logged = page.locator("pre:not(.shell)")
      const proven = await verifyProof((await logged.textContent()) ?? "", stone, { vkey: signer.vkey })
      assert.isTrue(proven.ok, JSON.stringify(proven))
      const text = await page.locator("main").innerText()
      for (const part of [stone.commitment, stone.chainHash, stone.transaction, signer.vkey, `/witness/${id}`])
        assert.include(text.replace(/\s/gu, ""), part)
      const code = page.getByRole("img", { name: "QR code of the address of this stone" })
      assert.strictEqual(await readQrCode(code), `${url}/witness/${id}`)
      // As it will be when the log has grown a million million times, and five witnesses sign beside it.
      await logged.evaluate((pre) => {
        const signed = `— witness.example/altar ${"A".repeat(104)}\n`
        pre.textContent = `${`${"h".repeat(43)}=\n`.repeat(40)}${pre.textContent ?? ""}${signed.repeat(5)}`
      })
      await fitsOneSheet(page)

      const revealed = await run(ask(`${url}/api/witness/${id}/reveal`, post({ salt, text: words })))
      assert.strictEqual(revealed.status, 201, revealed.text)
      await page.reload()
      assert.strictEqual(computedBy((await commands.allTextContents())[1]), stone.commitment)
      await fitsOneSheet(page)
      await isAccessible(page, "a certificate")
    })

    it("a stone has an address to share, and a badge for an isolated foreign page", async ({ visit, run }) => {
      const { id } = await run(loggedStone())
      let snippet = ""
      const elsewhere = await run(
        serve(() =>
          Promise.resolve({
            status: 200,
            type: "text/html",
            headers: { "cross-origin-embedder-policy": "require-corp" },
            body: `<!doctype html><title>Elsewhere</title>${snippet}`,
          }),
        ),
      )
      const { complaints, page, url } = await visit("/api/health")
      await page.addInitScript(() => {
        const share = (shared: object) => Promise.resolve(Object.assign(window, { shared }))
        Object.defineProperty(navigator, "share", { value: share })
      })
      await page.goto(`${url}/witness/${id}`)
      await page.getByRole("button", { name: "Share" }).click()
      assert.deepStrictEqual(await page.evaluate(() => Reflect.get(window, "shared")), { url: page.url() })
      await page.getByText("A badge for your page").click()
      await page.getByRole("button", { name: "Copy the HTML" }).waitFor()
      snippet = (await page.locator("#badge-HTML").textContent()) ?? ""
      await page.goto(elsewhere)
      const shown = await page.locator("img").evaluate(async (image) => {
        if (!(image instanceof HTMLImageElement)) return 0
        await image.decode()
        return image.naturalWidth
      })
      assert.strictEqual(shown, 280)
      assert.deepStrictEqual(complaints.splice(0), [`${elsewhere}/`])
    })
  },
  { log: { ...signing, checkpointFile: Option.none() } },
)
