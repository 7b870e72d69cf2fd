/** Shared in a browser: a certificate on one sheet that proves by itself, a badge in another site's page, metadata for machines. */
import { execFileSync } from "node:child_process"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { seal } from "../../src/altar/Hashes.ts"
import { verifyProof } from "../../src/buyer/log/StoneProof.ts"
import { appearancesOf, assertAppearance } from "../lab/browser/Browser.ts"
import { guide, loggedStone } from "../lab/browser/Guide.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import { readQrCode } from "../lab/browser/QrCode.ts"
import { ask, newCommitment, post, TestServer } from "../lab/Fixture.ts"

interface Stone {
  readonly sequence: number
  readonly commitment: string
  readonly witnessedAt: string
  readonly transaction: string
  readonly previousHash: string
  readonly chainHash: string
}

const coveredAs = Effect.fnUntraced(function* (commitment: string) {
  const { url } = yield* TestServer
  const { id } = yield* loggedStone({ commitment, agentName: "Wren" })
  const { stone }: { readonly stone: Stone } = JSON.parse((yield* ask(`${url}/api/witness/${id}`)).text)
  return { id, stone }
})

const covered = Effect.suspend(() => coveredAs(newCommitment()))

const pagesOf = (pdf: Buffer) => pdf.toString("latin1").match(/\/Type\s*\/Page\b/gu)?.length

guide(
  "on shared pages,",
  (it) => {
    it("a certificate fits one sheet, which suffices to check the stone", async ({ visit, run }) => {
      const { id, stone } = await run(covered)
      const { page, url } = await visit(`/witness/${id}/certificate`, { bypassCSP: true })
      for (const format of ["A4", "Letter"] as const) assert.strictEqual(pagesOf(await page.pdf({ format })), 1, format)
      const lines = await page.locator("pre").allTextContents()
      const [shell = "", proof = ""] = lines
      const computed = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).split(" ")[0]
      assert.strictEqual(computed, stone.chainHash)
      const trust = { vkey: signer.vkey }
      const proven = await verifyProof(proof, stone, trust)
      assert.isTrue(proven.ok, JSON.stringify(proven))
      const text = await page.locator("main").innerText()
      for (const part of [stone.commitment, stone.chainHash, stone.transaction, signer.vkey, `/witness/${id}`])
        assert.include(text.replace(/\s/gu, ""), part)
      const code = page.getByRole("img", { name: "QR code of the address of this stone" })
      assert.strictEqual(await readQrCode(code), `${url}/witness/${id}`)
      await assertAppearance(page, appearancesOf(320, 1440), "certificate", "certificate")
      // As it will be when the log has grown a million million times, and five witnesses sign beside it.
      await page.locator("pre:not(.shell)").evaluate((pre) => {
        const signed = `— witness.example/altar ${"A".repeat(104)}\n`
        pre.textContent = `${`${"h".repeat(43)}=\n`.repeat(40)}${pre.textContent ?? ""}${signed.repeat(5)}`
      })
      for (const format of ["A4", "Letter"] as const) assert.strictEqual(pagesOf(await page.pdf({ format })), 1, format)
    })

    it("the longest revealed words fit one sheet, whose command computes the seal", async ({ visit, url, run }) => {
      const salt = "-n 5% of \\000 it's $SALT\r\n"
      const words = `-e It's 100% "true" \\n \\047 $HOME \`id\`:\n${"Wren ".repeat(60)}`.slice(0, 279).concat(".")
      const { id, stone } = await run(coveredAs(seal(salt, words)))
      const revealed = await run(ask(`${url}/api/witness/${id}/reveal`, post({ salt, text: words })))
      assert.strictEqual(revealed.status, 201, revealed.text)
      const { page } = await visit(`/witness/${id}/certificate`, { bypassCSP: true })
      const [, shell = ""] = await page.locator("pre").allTextContents()
      const computed = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).split(" ")[0]
      assert.strictEqual(computed, stone.commitment)
      for (const format of ["A4", "Letter"] as const) assert.strictEqual(pagesOf(await page.pdf({ format })), 1, format)
      await assertAppearance(page, appearancesOf(320), "revealed certificate", "revealed-certificate")
    })

    it("a certificate is set in the site's typeface, and requests its one file", async ({ visit, run }) => {
      const { id } = await run(covered)
      const { page, url } = await visit(`/witness/${id}/certificate`)
      // A face that came too late for the first view is there for the second one.
      await page.evaluate(() => document.fonts.ready)
      const asked = new Set<string>()
      page.on("request", (request) => void (request.resourceType() === "font" && asked.add(request.url())))
      await page.reload()
      const session = await page.context().newCDPSession(page)
      await session.send("DOM.enable")
      await session.send("CSS.enable")
      const { root } = await session.send("DOM.getDocument")
      for (const selector of ["h1", ".statement", "dt"]) {
        const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector })
        const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId })
        assert.deepStrictEqual([...new Set(fonts.map(({ familyName }) => familyName))], ["Vollkorn"], selector)
      }
      const face = await page.locator(`link[rel="preload"]`).getAttribute("href")
      assert.match(face ?? "", /\/vollkorn-roman-[0-9A-Z]{8}\.woff2$/u)
      assert.deepStrictEqual([...asked], [`${url}${face}`])
    })

    it("a badge is copied from the stone's page and appears on an isolated foreign page", async ({ visit, run }) => {
      const { id } = await run(covered)
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
      const { complaints, page, url } = await visit(`/witness/${id}`)
      assert.strictEqual(
        await page.getByRole("link", { name: "Certificate to print" }).getAttribute("href"),
        `/witness/${id}/certificate`,
      )
      await page.getByText("A badge for your page").click()
      const badge = page.getByRole("img", { name: /^Badge of witness stone/u })
      await badge.evaluate(async (image) => {
        if (image instanceof HTMLImageElement) await image.decode()
      })
      assert.include(await page.locator("#badge-Markdown").innerText(), `(${url}/witness/${id}/badge.svg)`)
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
