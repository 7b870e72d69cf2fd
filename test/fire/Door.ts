/** The way from a buyer to the servers: connections that are refused, or cut in the middle of an answer. */
import { connect } from "node:net"
import { passage } from "../support/Passage.ts"
import type { Random } from "./Random.ts"

export interface Door {
  readonly port: number
  /** From now on each new connection is closed at once, or after some bytes of an answer, with these probabilities. */
  readonly disturb: (refused: number, cut: number) => void
  readonly cutAll: () => void
  readonly calm: () => void
  /** Where it leads: one port, or several in turn. */
  readonly leadTo: (ports: ReadonlyArray<number>) => void
  readonly close: () => void
}

export const door = async (random: Random): Promise<Door> => {
  let ports: ReadonlyArray<number> = []
  let turn = 0
  let [refused, cut] = [0, 0]
  const { close, cutAll, port } = await passage(
    () => {
      const next = ports[turn++ % Math.max(1, ports.length)]
      return next === undefined || random.chance(refused) ? undefined : connect(next, "127.0.0.1")
    },
    (client, behind, end) => {
      client.on("data", (chunk) => behind.write(chunk))
      behind.on("data", (chunk) => {
        if (!random.chance(cut)) return client.write(chunk)
        client.write(chunk.subarray(0, random.below(chunk.length)))
        return end()
      })
    },
  )
  return {
    port,
    disturb: (refusals, cuts) => ([refused, cut] = [refusals, cuts]),
    cutAll,
    calm: () => ([refused, cut] = [0, 0]),
    leadTo: (behind) => (ports = behind),
    close,
  }
}
