/** A PostgreSQL and its streaming standby, which takes over when the first one dies. */
import { spawn } from "node:child_process"
import { existsSync, openSync } from "node:fs"
import { chown, mkdir, stat } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import postgres from "postgres"
import { findBinaries } from "../../../src/sandbox/PostgresBinaries.ts"
import { takePort } from "../../lab/Ports.ts"
import { cluster, type Cluster } from "../../lab/Cluster.ts"
import { openRelay } from "../../lab/proxy/Tcp.ts"

/** The connection of the replication: it can be held up, so that the standby falls behind. */
const link = async (port: number) => {
  const primaries: Array<Socket> = []
  const { close, port: own } = await openRelay(
    () => connect(port, "127.0.0.1"),
    (standby, primary) => {
      primaries.push(primary)
      standby.on("data", (chunk) => primary.write(chunk))
      primary.on("data", (chunk) => standby.write(chunk))
    },
  )
  return { port: own, hold: () => void primaries.map((primary) => primary.pause()), cut: close }
}

export interface Pair extends Cluster {
  /** From now on the standby hears nothing. */
  readonly fallBehind: () => void
  /** Kills the first one and promotes the other; milliseconds until that takes writes. */
  readonly failOver: () => Promise<number>
}

export const pair = async (folder: string, isSync: boolean): Promise<Pair> => {
  const primary = await cluster(folder)
  const data = join(folder, "postgres", "cluster")
  const { folder: programs } = await Effect.runPromise(findBinaries(data).pipe(Effect.provide(NodeServices.layer)))
  if (!existsSync(join(programs, "pg_basebackup"))) {
    throw new Error(`${programs} has no pg_basebackup: apt install postgresql`)
  }
  const { gid, uid } = await stat(data)
  const home = join(folder, "standby")
  await mkdir(home, { mode: 0o700 })
  await chown(home, uid, gid)
  const heard = openSync(join(folder, "standby.log"), "a")
  const start = (program: string, args: ReadonlyArray<string>) =>
    spawn(join(programs, program), [...args], { uid, gid, cwd: home, stdio: ["ignore", "ignore", heard], env: {} })

  const wire = await link(primary.port())
  const copy = join(home, "cluster")
  const source = `${primary.urlOf("postgres", wire.port)}?application_name=standby`
  await new Promise<void>((resolve, reject) => {
    const args = ["-d", source, "-D", copy, "-X", "stream", "-c", "fast", "-R", "--no-sync"]
    start("pg_basebackup", args).once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`pg_basebackup ended with ${code}: see ${folder}/standby.log`)),
    )
  })
  const port = await takePort()
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", "timezone=UTC"]
  const settled = [...settings, "log_min_messages=fatal"].flatMap((one) => ["-c", one])
  const standby = start("postgres", ["-D", copy, "-p", String(port), ...settled])
  const ended = new Promise<void>((resolve) => standby.once("close", () => resolve()))
  process.once("exit", () => standby.kill("SIGQUIT"))

  let current = primary.port()
  const urlOf: Cluster["urlOf"] = (name, at) => primary.urlOf(name, at ?? current)
  const ask = async (url: string, statement: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    try {
      return await sql.unsafe(statement)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  const run: Cluster["run"] = (statement, database = "altar") => ask(urlOf(database), statement)

  const until = async (statement: string, what: string) => {
    for (const end = performance.now() + 30_000; performance.now() < end; await setTimeout(100)) {
      if ((await run(statement)).length > 0) return
    }
    throw new Error(what)
  }
  await until("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'", "the standby does not stream")
  if (isSync) {
    await run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await run("SELECT pg_reload_conf()")
    await until("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'", "the standby is not synchronous")
  }

  return {
    ...primary,
    port: () => current,
    urlOf,
    run,
    fallBehind: wire.hold,
    failOver: async () => {
      const began = performance.now()
      await primary.kill()
      wire.cut()
      await ask(primary.urlOf("altar", port), "SELECT pg_promote(true, 60)")
      current = port
      await run("UPDATE payment_totals SET settled = settled")
      return performance.now() - began
    },
    close: async () => {
      wire.cut()
      standby.kill("SIGINT")
      await ended
      await primary.close()
    },
  }
}
