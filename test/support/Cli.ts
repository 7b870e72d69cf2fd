/** The command line as its user runs it: a process of its own with a folder of its own, ended with its test. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { judge } from "./AnswerValidation.ts"
import { World } from "./World.ts"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"

export const main = new URL("../../src/start.js", import.meta.url).pathname

const overhear = new URL("recordAnswers.ts", import.meta.url).pathname

/** What commands heard is judged once. */
const judgeAll = (file: string) => {
  if (!existsSync(file)) return
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const heard = JSON.parse(line)
    judge({ ...heard, headers: new Headers(heard.headers) })
  }
  rmSync(file)
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** Waits until it has written this, on stdout or stderr. */
  readonly says: (text: string) => Promise<void>
  readonly ended: Promise<Ended>
}

export interface Terminal {
  readonly folder: string
  readonly address: `0x${string}`
  readonly secret: string
  readonly start: (args: ReadonlyArray<string>, env?: Record<string, string>, stdin?: string) => Running
  readonly run: (args: ReadonlyArray<string>, env?: Record<string, string>, stdin?: string) => Effect.Effect<Ended>
}

/** A preloaded module that stops every signed request on its way out, and says so. */
const hold = `const real = globalThis.fetch
globalThis.fetch = (input, init) => {
  if (!new Request(input, init).headers.has("payment-signature")) return real(input, init)
  process.stderr.write("HELD\\n")
  return new Promise(() => {})
}
`

/** The environment under which nothing signed is ever sent. */
export const holding = ({ folder }: Terminal) => {
  const file = join(folder, "hold.mjs")
  writeFileSync(file, hold)
  return { NODE_OPTIONS: `--import=${file}` }
}

/** A terminal with a funded wallet in its environment. */
export const terminal = Effect.gen(function* () {
  const { url } = yield* World
  const chain = yield* LocalChain
  const secret = generatePrivateKey()
  const { address } = privateKeyToAccount(secret)
  yield* Effect.orDie(chain.fund(address, 40_000_000n))
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "spirit-altar-cli-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
  )
  const children = new Set<ChildProcess>()
  yield* Effect.addFinalizer(() => Effect.sync(() => children.forEach((child) => child.kill("SIGKILL"))))

  const overheard = join(folder, "overheard")
  const start: Terminal["start"] = (args, env = {}, stdin = "") => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        SPIRIT_ALTAR_URL: url,
        SPIRIT_ALTAR_PRIVATE_KEY: secret,
        ...env,
        OVERHEARD: overheard,
        NODE_OPTIONS: `${env["NODE_OPTIONS"] ?? ""} --import=${overhear}`,
      },
    })
    children.add(child)
    const said = { stdout: "", stderr: "" }
    const waiting = new Set<() => void>()
    for (const name of ["stdout", "stderr"] as const) {
      // A sign of several bytes may come in two parts.
      child[name].setEncoding("utf8").on("data", (part: string) => {
        said[name] += part
        for (const look of waiting) look()
      })
    }
    child.stdin.end(stdin)
    const ended = new Promise<Ended>((resolve) =>
      child.on("close", (code) => {
        children.delete(child)
        judgeAll(overheard)
        resolve({ code, ...said })
      }),
    )
    const says = (text: string) =>
      Promise.race([
        new Promise<void>((resolve) => {
          const look = () => ((said.stdout + said.stderr).includes(text) ? resolve() : undefined)
          waiting.add(look)
          look()
        }),
        ended.then(({ stderr, stdout }) =>
          (stdout + stderr).includes(text) ? undefined : Promise.reject(new Error(`it never said ${text}: ${stderr}`)),
        ),
      ])
    return { child, says, ended }
  }
  const made: Terminal = {
    folder,
    address,
    secret,
    start,
    run: (args, env, stdin) => Effect.promise(() => start(args, env, stdin).ended),
  }
  return made
})
