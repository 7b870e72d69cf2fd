/** The command line as its user runs it: a process of its own with a folder of its own, ended with its test. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { commandRun } from "./CommandRun.ts"
import { main, run, type Running } from "./Process.ts"
import { judge } from "./run/AnswerValidation.ts"
import { TestServer } from "./Fixture.ts"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { newFolder } from "./Folders.ts"
import { authorizationsUsed } from "./buyer/LibraryBuyer.ts"

const overhear = new URL("run/recordAnswers.ts", import.meta.url).pathname

/** The answers to commands are checked once. */
const judgeAll = (file: string) => {
  if (!existsSync(file)) return
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const heard = JSON.parse(line)
    judge({ ...heard, headers: new Headers(heard.headers) })
  }
  rmSync(file)
}

export type Terminal = Effect.Success<typeof terminal>

/** A preloaded module that stops every signed request on its way out, and says so. */
const hold = `const real = globalThis.fetch
globalThis.fetch = (input, init) => {
  if (!new Request(input, init).headers.has("payment-signature")) return real(input, init)
  process.stderr.write("HELD\\n")
  return new Promise(() => {})
}
`

/** The environment under which nothing signed is ever sent. */
export const holding = ({ folder }: { readonly folder: string }) => {
  const file = join(folder, "hold.mjs")
  writeFileSync(file, hold)
  return { NODE_OPTIONS: `--import=${file}` }
}

/** A terminal with a funded wallet in its environment. */
export const terminal = Effect.gen(function* () {
  const { url } = yield* TestServer
  const chain = yield* LocalChain
  const secret = generatePrivateKey()
  const { address } = privateKeyToAccount(secret)
  yield* Effect.orDie(chain.fund(address, 40_000_000n))
  const folder = newFolder()
  const children = new Set<Running>()
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all([...children].map(({ kill }) => kill()))))

  const own = { HOME: folder, SPIRIT_ALTAR_URL: url, SPIRIT_ALTAR_PRIVATE_KEY: secret }
  const overheard = join(folder, "overheard")
  const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, stdin = ""): Running => {
    const running = run([main, ...args], {
      cwd: folder,
      stdin,
      env: {
        PATH: process.env["PATH"] ?? "",
        ...own,
        ...env,
        OVERHEARD: overheard,
        NODE_OPTIONS: `${env["NODE_OPTIONS"] ?? ""} --import=${overhear}`,
      },
    })
    children.add(running)
    const ended = running.ended.finally(() => {
      children.delete(running)
      judgeAll(overheard)
    })
    return { ...running, ended }
  }
  const ended = (...of: Parameters<typeof start>) => Effect.promise(() => start(...of).ended)
  /** The same in this process, with the journal that a process finds by itself. */
  const command = ([name = "", ...args]: ReadonlyArray<string>, env: Record<string, string> = {}) =>
    commandRun([name, "--data", join(folder, ".local", "state", "spirit-altar"), ...args], { ...own, ...env })
  /** How many payments of its wallet are on the chain. */
  const spent = authorizationsUsed({ account: { address } })
  return { folder, address, secret, own, start, run: ended, command, spent }
})
