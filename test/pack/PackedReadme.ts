/** Runs what the package's README shows, from its text. */
import { cp, mkdir, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { assert } from "@effect/vitest"
import { documents } from "../../src/build/documents.ts"
import { environment, run } from "./Packed.ts"

const readme = documents["README.md"]

/** Buys and verifies by `npx`, in a folder that has nothing but the archive. */
export const commandsWork = async (tarball: string, folder: string, sandbox: string) => {
  await mkdir(folder)
  const archive = basename(tarball)
  await cp(tarball, join(folder, archive))
  const env = environment({ XDG_STATE_HOME: join(folder, "state"), npm_config_prefer_offline: "true" })
  const first = async (command: string) => {
    const line = readme.split("\n").find((text) => text.startsWith(`npx spirit-altar ${command} `)) ?? ""
    const typed = line.replace("npx", `npx --yes --package ./${archive}`).replace("https://altar.example", sandbox)
    const ended = await run("sh", ["-ec", typed], folder, env)
    assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
    return ended.stdout
  }
  assert.match(await first("witness"), /^ *"?sequence"?:? +1,?$/mu)
  assert.match(await first("verify"), /^1 stone: every link hashes/u)
}

/** Buys by the library's program, which repeats its purchase when it is run again. */
export const programWorks = async (folder: string, env: Record<string, string>) => {
  const [, program = ""] = /```js\n([^]*?)```/u.exec(readme) ?? []
  await writeFile(join(folder, "readme.js"), program)
  for (const _ of ["first", "again"]) {
    const ended = await run(process.execPath, ["readme.js"], folder, environment(env))
    assert.deepStrictEqual([ended.code, ended.stdout], [0, "stone 2 true\n"], ended.stderr)
  }
}
