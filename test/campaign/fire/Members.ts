/** Members of signal rooms, who send and read as the documents tell them while everything else happens. */
import { setTimeout } from "node:timers/promises"
import { type Answers, codeOf, type HttpAnswer } from "../../lab/buyer/Answers.ts"
import type { Random } from "../../lab/Random.ts"
import { retryingClient } from "./RetryingClient.ts"

export interface Members {
  /** They send nothing new; answers what was refused without need, and what never became known, half a minute after all was well. */
  readonly rest: () => Promise<ReadonlyArray<string>>
  /** The room whose end may be moved: its members have left it. */
  readonly leftRoom: () => string | undefined
}

interface Room {
  readonly id: string
  readonly token: string
}

const fates = ["stays", "is deleted", "is left"] as const

export const members = (url: string, answers: Answers, random: Random): Members => {
  const over = new AbortController()
  const { calm, insist, violations } = retryingClient(answers)
  let left: string | undefined
  /** Rooms whose deletion has been asked for: they may be gone, whatever was answered. */
  const deleted = new Set<string>()

  /** Members keep to the documents: they are refused only where the room is gone, or who asks has no invite. */
  const expect = (what: string, heard: HttpAnswer | undefined, allowed: ReadonlyArray<number>) => {
    if (heard === undefined || heard.status < 400 || heard.status === 429 || heard.status >= 500) return
    if (!allowed.includes(heard.status)) violations.push(`${what} was refused: ${heard.status} ${codeOf(heard)}`)
  }
  const goneOr = (id: string, ...others: ReadonlyArray<number>) => (deleted.has(id) ? [404, ...others] : others)

  const addressOf = (who: Random) => `10.251.${who.below(250)}.${1 + who.below(250)}`

  const askedBy = (who: Random, method: string, path: string, token?: string, body?: object) => ({
    method,
    url: url + path,
    headers: {
      "x-forwarded-for": addressOf(who.fork("address")),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })

  const write = async ({ id, token }: Room, who: Random) => {
    for (let count = 1; !over.signal.aborted; count += 1) {
      const body = {
        sender: "Wren",
        senderKind: "agent",
        text: `Signal ${count}, ${who.hex(4)}`,
        mode: who.pick(["calm", "spark", "ping", "celebrate"]),
        clientId: `fire-${who.hex(8)}`,
      }
      const asked = askedBy(who, "POST", `/api/rooms/${id}/messages`, token, body)
      const heard = await insist(who, `a signal to ${id}`, asked)
      // Each clientId has one content, so that no conflict is right.
      expect(`signal ${body.clientId} to ${id}`, heard, goneOr(id))
      if (heard === undefined || heard.status >= 400) return
      await setTimeout(who.between(1_500, 5_000), undefined, { signal: over.signal }).catch(() => {})
    }
  }

  const read = async ({ id, token }: Room, who: Random) => {
    const headers = { "x-forwarded-for": addressOf(who), authorization: `Bearer ${token}` }
    let after = 0
    while (!over.signal.aborted) {
      const heard = await answers.ask({ method: "GET", url: `${url}/api/rooms/${id}?after=${after}`, headers }, 15_000)
      expect(`a poll of ${id}`, heard, goneOr(id))
      if (heard?.status === 200) {
        const { room } = JSON.parse(heard.body) as { readonly room: { readonly latestSequence: number } }
        // Now and then a member returns without memory.
        after = who.chance(0.2) ? 0 : room.latestSequence
      }
      if (who.chance(0.1)) {
        const strange = await answers.ask({ method: "GET", url: `${url}/api/rooms/${id}`, headers: {} }, 15_000)
        expect(`a poll of ${id} without its invite`, strange, goneOr(id, 401))
      }
      await setTimeout(who.between(600, 1_800), undefined, { signal: over.signal }).catch(() => {})
    }
  }

  const gather = async (fate: (typeof fates)[number]) => {
    const who = random.fork(fate)
    const made = await insist(who, `a room that ${fate}`, askedBy(who, "POST", "/api/rooms"))
    expect(`a room that ${fate}`, made, [])
    if (made === undefined || made.status !== 201) return
    const { room, token } = JSON.parse(made.body) as { readonly room: { readonly id: string }; readonly token: string }
    const own: Room = { id: room.id, token }
    const busy = [write(own, who.fork("one")), write(own, who.fork("two")), read(own, who.fork("reader"))]
    if (fate === "is left") left = own.id
    if (fate === "is deleted") {
      await setTimeout(who.between(5_000, 20_000), undefined, { signal: over.signal }).catch(() => {})
      deleted.add(own.id)
      const asked = askedBy(who, "DELETE", `/api/rooms/${own.id}`, token)
      const ended = await insist(who, `the end of ${own.id}`, asked)
      // Deleted by a request before, whose answer was lost.
      expect(`the end of ${own.id}`, ended, [404])
    }
    await Promise.all(busy)
  }

  const gathered = Promise.all(fates.map(gather))
  return {
    rest: async () => {
      over.abort()
      calm()
      await gathered
      return violations
    },
    leftRoom: () => left,
  }
}
