/** `npm run dev`: a change of a source restarts the server alone. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { copyOfCheckout } from "../lab/CheckoutCopy.ts"
import { takePort } from "../lab/Ports.ts"
import { run } from "../lab/Process.ts"
import { jsonOf } from "../lab/Sources.ts"

const style = "src/web/v2/page.css"

it("npm run dev serves a changed style from a new server, on the chain and the database that it began with", async () => {
  const copy = await copyOfCheckout()
  const port = await takePort()
  const { DATABASE_URL: _, HOST: __, PUBLIC_URL: ___, ...own } = process.env
  const [, ...args] = String(jsonOf("package.json").scripts.dev)
    .replace(/^exec /u, "")
    .split(" ")
  const dev = run(args, { cwd: copy, env: { ...own, DATA_DIR: join(copy, "data"), PORT: String(port) } })
  const url = `http://127.0.0.1:${port}`
  const bodyOf = async (path: string) => (await fetch(url + path)).text()
  const styleOf = async () => {
    const [path = ""] = /\/v2\/page-\w+\.css/u.exec(await bodyOf("/v2/")) ?? []
    return bodyOf(path)
  }
  const ready = "ready after"
  try {
    await dev.says(ready)
    const chain = await bodyOf("/sandbox")
    assert.notInclude(await styleOf(), "--watched")
    appendFileSync(join(copy, style), "\nbody { --watched: 1 }\n")
    await dev.says(ready, 2)
    assert.include(await styleOf(), "--watched")
    assert.strictEqual(await bodyOf("/sandbox"), chain)
    for (const part of ["Starting a private chain", "Installing the database"])
      assert.strictEqual(dev.output().split(part).length, 2, part)
  } finally {
    dev.signal("SIGINT")
    await dev.exited
  }
  await fetch(url).then(
    () => assert.fail("the server outlives npm run dev"),
    () => {},
  )
})
