/** Programs under measurement as processes of their own, with the flags that `npm run serve` has. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Ledger from "../Ledger.ts"
import { takePort } from "../Ports.ts"
import { run } from "../Process.ts"
import { isReady } from "./ServerProcess.ts"

export interface Served {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** The flags of `npm run serve` for Node: the measured program is the production one. */
const flags: ReadonlyArray<string> = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
).scripts.serve.match(/--\S+/gu)

/** Starts a node program and answers once it is ready at `url` or, without one, prints where it listens. */
const start = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  url?: string,
): Promise<Served> => {
  const env = { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", ...environment }
  const one = run(args, { env })
  const failed = one.ended.then(({ code }) =>
    Promise.reject(new Error(`${args.join(" ")} ended with ${code}:\n${one.output()}`)),
  )
  failed.catch(() => {})
  // Ours is asked: its own messages depend on its log level.
  const said = url === undefined ? await one.says("Listening on ") : ""
  const at = url ?? /Listening on (http\S+?)\.?\s/u.exec(`${said} `)?.[1] ?? ""
  if (url !== undefined) await Promise.race([isReady(url, Infinity), failed])
  const stop = () => {
    one.signal("SIGTERM")
    return one.exited
  }
  return { pid: one.pid, url: at, stop }
}

const tests = new URL("../..", import.meta.url)

/** The environment of a server that sells by the doubles of a facilitator and a node. */
export const soldBy = ({ url }: Pick<Served, "url">) => ({
  PUBLIC_URL: Ledger.publicUrl,
  PAY_TO: Ledger.payTo,
  X402_NETWORK: Ledger.network,
  FACILITATOR_URL: url,
  RPC_URL: `${url}/rpc`,
})

/** Starts programs, named from the folder of tests, and ends them together. Our start.js gets its flags, command and port. */
export const serving = () => {
  const served: Array<Served> = []
  return {
    serve: async (program: string, environment: Readonly<Record<string, string>>): Promise<Served> => {
      const file = fileURLToPath(new URL(program, tests))
      const port = program.endsWith("start.js") ? String(await takePort()) : undefined
      const one = await (port === undefined
        ? start([file], environment)
        : start(
            [...flags, file, "serve"],
            { PORT: port, LOG_LEVEL: "None", ...environment },
            `http://127.0.0.1:${port}`,
          ))
      served.push(one)
      return one
    },
    close: async () => {
      for (const one of served.reverse()) await one.stop()
    },
  }
}
