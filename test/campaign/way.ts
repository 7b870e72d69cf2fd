/** `npm run way`: lists our files that run while a warm server sells one stone, by the profiler's own coverage. */
import { fileURLToPath } from "node:url"
import { privateKeyToAccount } from "viem/accounts"
import { buyer } from "../../src/buyer/index.ts"
import { network } from "../lab/Chain.ts"
import { ownDatabase } from "../lab/Databases.ts"
import { chain as ownChain } from "../lab/OwnChain.ts"
import { takePort } from "../lab/Ports.ts"
import { run } from "../lab/Process.ts"
import { isReady } from "../lab/server/ServerProcess.ts"

if (process.argv.includes("--help")) {
  process.stdout.write(
    "Lists our files whose functions run while a warm server sells one stone to our own buyer.\n\nExample: npm run way\n",
  )
  process.exit()
}

/** Purchases that are compared: a file of the way runs in each, a file of a sweep only in some. */
const purchases = 5

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly functionName: string
      readonly ranges: ReadonlyArray<{ readonly count: number }>
    }>
  }>
}

/** The profiler of a process that runs with `--inspect`. */
const profilerAt = async (address: string) => {
  const socket = new WebSocket(address)
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }))
  let calls = 0
  const call = (method: string, params: object = {}) => {
    const id = (calls += 1)
    const { promise, resolve } = Promise.withResolvers<Coverage>()
    socket.addEventListener("message", function answer({ data }) {
      const message = JSON.parse(String(data))
      if (message.id !== id) return
      socket.removeEventListener("message", answer)
      resolve(message.result)
    })
    socket.send(JSON.stringify({ id, method, params }))
    return promise
  }
  await call("Profiler.enable")
  await call("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  return {
    /** A process with a debugger does not end. */
    close: () => socket.close(),
    /** Our files with a function that ran since the last call. A module's own body runs once, when it is loaded. */
    take: async (root: string): Promise<ReadonlyArray<string>> => {
      const { result } = await call("Profiler.takePreciseCoverage")
      return result.flatMap(({ functions, url }) => {
        const ran = functions.some(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0)
        return ran && url.startsWith(root) && !url.includes("/node_modules/") ? [url.slice(root.length)] : []
      })
    },
  }
}

const root = new URL("../../", import.meta.url)
const account = privateKeyToAccount(`0x${"5a".repeat(32)}`)
const database = await ownDatabase(false)
const chain = await ownChain([account], 1_000_000n)
const port = await takePort()
const url = `http://127.0.0.1:${port}`
// The sources as they stand: a bundle would be one file.
const server = run(["--inspect=127.0.0.1:0", fileURLToPath(new URL("src/main.ts", root)), "serve"], {
  env: {
    PATH: process.env["PATH"] ?? "",
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: url,
    DATABASE_URL: `${database.url}?sslmode=disable`,
    X402_NETWORK: network,
    RPC_URL: chain.rpcUrl,
    PAY_TO: chain.payTo,
    RELAYER_KEY: chain.relayerKey,
    LOG_LEVEL: "Info",
  },
})
const inspected = await server.says("Debugger listening on ")
if (!(await isReady(url, 60_000))) throw new Error(`The server did not start:\n${server.output()}`)
const profiler = await profilerAt(/ws:\S+/u.exec(inspected)?.[0] ?? "")
const altar = buyer({ url, account })
const ways: Array<ReadonlySet<string>> = []
// The first purchase warms caches and connections.
for (let purchase = 0; purchase <= purchases; purchase += 1) {
  await profiler.take(root.href)
  await altar.witness({ words: `Stone ${purchase}.` })
  if (purchase > 0) ways.push(new Set(await profiler.take(root.href)))
}
const [first = new Set<string>(), ...others] = ways
const way = [...first].filter((file) => others.every((other) => other.has(file))).sort()
for (const file of way) process.stdout.write(`${file}\n`)
process.stdout.write(`${way.length} files run for a warm paid stone, as in each of ${purchases} purchases.\n`)
profiler.close()
server.signal("SIGTERM")
await server.exited
await chain.close()
await database.close()
