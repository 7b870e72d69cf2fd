/** Ports for what is told where to listen, so that it can be started there again. */
import { createServer } from "node:net"
import { availableParallelism } from "node:os"
import { Effect } from "effect"

/** Below the ports that systems hand out by themselves, so that no connection takes one between its choice and its use. */
const ownPorts = { first: 12_000, count: 20_000 }

/** Each worker has a share of them: one that another worker has chosen and not taken yet seems free, too. */
const shares = 2 * availableParallelism()
const share = Math.floor(ownPorts.count / shares)
const firstOfShare = ownPorts.first + ((Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % shares) * share

/** Each in its turn, so that none is chosen again while its program starts or is dead for a while. */
let turn = Math.floor(Math.random() * share)

/** A port that is free now, and that no other program of this run will use. */
export const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const attempt = () => {
    turn = (turn + 1) % share
    const port = firstOfShare + turn
    const probe = createServer()
    probe.once("error", attempt)
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(port))))
  }
  attempt()
})

/** The same as a promise. */
export const takePort = (): Promise<number> => Effect.runPromise(freePort)
