// A data folder has one sandbox at a time, however many begin at once and however the last one ended.
import { mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { newFolder } from "../lab/Folders.ts"
import { run, type Running } from "../lab/Process.ts"

interface Said {
  readonly pid?: number
  readonly folder?: string
  readonly refused?: string
  readonly owner?: { readonly pid: number | undefined; readonly url: string }
}

const url = "http://127.0.0.1:4567"
// Many starts of the same code: compiled once.
const compileCache = join(tmpdir(), "spirit-altar-compile-cache")
const script = join(import.meta.dirname, "holdFolder.ts")

/** A process that tries to hold the folder, and what it said of that. */
const contend = (dataDir: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { HOST: _, PUBLIC_URL: __, ...own } = process.env
      const env = { ...own, NODE_COMPILE_CACHE: compileCache, DATA_DIR: dataDir, PORT: "4567" }
      const child = run([script], { env })
      const said: Said = JSON.parse((await child.says("\n")).split("\n")[0] ?? "")
      return { child, said }
    }),
    ({ child }) => Effect.promise(child.kill),
  )

const end = (child: Running, signal: NodeJS.Signals) =>
  Effect.promise(() => {
    child.signal(signal)
    return child.exited
  })

describe.concurrent("DataFolder", () => {
  it.live("is held by one of many concurrent starts, also after its holder was killed or stopped", function* () {
    const dataDir = join(newFolder(), "data")
    for (const signal of ["SIGKILL", "SIGINT", "SIGKILL"] as const) {
      const all = yield* Effect.all(
        Array.from({ length: 3 }, () => contend(dataDir)),
        { concurrency: "unbounded" },
      )
      const [winner, ...more] = all.filter(({ said }) => said.pid !== undefined)
      assert.isDefined(winner)
      assert.isEmpty(more)
      assert.strictEqual(winner.said.folder, dataDir)
      for (const { said } of all.filter((one) => one !== winner))
        assert.deepStrictEqual(said, { refused: dataDir, owner: { pid: winner.said.pid, url } })
      yield* end(winner.child, signal)
    }
  })

  it.live("is not considered held when it names this very process without a lock", function* () {
    const dataDir = join(newFolder(), "data")
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, "sandbox.json"), JSON.stringify({ pid: process.pid, url }))
    assert.strictEqual((yield* contend(dataDir)).said.folder, dataDir)
  })
})
