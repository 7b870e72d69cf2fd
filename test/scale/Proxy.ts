/** haproxy as the operator's guide wants it: a server that refuses connections is left out at once, nothing is sent twice. */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../bench/Processes.ts"

export const proxy = async (folder: string, ports: ReadonlyArray<number>) => {
  const port = await freePort()
  const file = join(folder, "haproxy.cfg")
  const servers = ports.map((one, at) => `  server s${at} 127.0.0.1:${one} check inter 500ms fall 2 rise 1`)
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 2s
  timeout client 90s
  timeout server 90s
  option forwardfor
  option httpchk GET /readyz
  option redispatch 1
  retries 3
  retry-on conn-failure
listen altar
  bind 127.0.0.1:${port}
  balance roundrobin
${servers.join("\n")}
`,
  )
  const child = spawn("haproxy", ["-f", file, "-db", "-q"], { stdio: ["ignore", "ignore", "inherit"] })
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve)
    child.once("error", () => reject(new Error("haproxy is not installed: apt install haproxy")))
  })
  const stop = () => child.kill("SIGKILL")
  process.once("exit", stop)
  return { port, close: () => void stop() }
}
