/** haproxy as an operator has it before the servers: in turn, without servers that do not answer. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { takePort } from "../Ports.ts"

export const hasHaproxy = () => spawnSync("haproxy", ["-v"]).status === 0

/** Its configuration goes into the folder. */
export const haproxy = async (folder: string, ports: ReadonlyArray<number>) => {
  const port = await takePort()
  const file = join(folder, "haproxy.cfg")
  const servers = ports.map((one, index) => `  server s${index} 127.0.0.1:${one} check inter 500ms fall 2 rise 1`)
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 2s
  timeout client 90s
  timeout server 90s
  option forwardfor
  option httpchk GET /livez
listen altar
  bind 127.0.0.1:${port}
  balance roundrobin
${servers.join("\n")}
`,
  )
  const child: ChildProcess = spawn("haproxy", ["-f", file, "-db", "-q"], { stdio: "ignore" })
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve)
    child.once("error", () => reject(new Error("haproxy is not installed: apt install haproxy")))
  })
  const stop = () => child.kill("SIGKILL")
  process.once("exit", stop)
  return { port, close: () => void stop() }
}
