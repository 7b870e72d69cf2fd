/** The way to a database that a firewall forgets: connections fall silent without an end, and new ones work. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Effect } from "effect"

const program = new URL("silence.py", import.meta.url).pathname

/** A relay to this database. */
export const make = Effect.fnUntraced(function* (upstream: string) {
  const url = new URL(upstream)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("python3", [program, url.hostname, url.port], { stdio: ["pipe", "pipe", "inherit"] })),
    (relay) => Effect.sync(() => relay.kill("SIGKILL")),
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const numberIn = Effect.promise(async () => Number(String((await lines.next()).value).split(" ")[1]))
  url.hostname = "127.0.0.1"
  url.port = String(yield* numberIn)
  return {
    url: url.href,
    /** Silences all connections that are open, and counts those that were ever silenced. */
    silence: Effect.suspend(() => {
      child.stdin.write("\n")
      return numberIn
    }),
  }
})
