/** Many addresses that each ask for rooms, send and poll until they are refused, and try tokens that are not theirs. */
import { randomUUID } from "node:crypto"
import { textMaximum } from "../../../schema/room/Limits.ts"
import type { Policy } from "../../../src/limits/Policy.ts"
import { creations, deletions, reads, sends } from "../../../src/room/Limits.ts"
import { faultsOf } from "../../lab/run/Contract.ts"
import { type Answer, bodyOf, Line } from "./Line.ts"

export interface Room {
  readonly id: string
  readonly token: string
}

interface Ask {
  /** What of, in the report. */
  readonly kind: string
  /** What is answered while the share lasts. */
  readonly status: number
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly token?: string
  readonly body?: object
}

export interface Flooded {
  /** Answers by kind and status. */
  readonly answers: ReadonlyMap<string, number>
  /** Rooms that there are, and messages that were taken. */
  readonly rooms: number
  readonly messages: number
  /** At most 100. */
  readonly faults: ReadonlyArray<string>
}

export interface Options {
  readonly url: string
  readonly addresses: number
  /** Milliseconds an answer may take. */
  readonly patience: number
  /** Told whenever another hundred addresses are done. */
  readonly progress?: (done: number) => void | Promise<void>
}

/** Fewer than a connection may have waiting. */
const pipelined = 24
const connections = 16
const most = 100

export const addressOf = (index: number) => `10.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

export const create: Ask = { kind: "room created", status: 201, method: "POST", path: "/api/rooms", body: {} }

export const send = ({ id, token }: Room): Ask => ({
  kind: "message sent",
  status: 201,
  method: "POST",
  path: `/api/rooms/${id}`,
  token,
  body: { sender: "Wren", senderKind: "agent", text: "x".repeat(textMaximum), mode: "calm" },
})

export const poll = ({ id, token }: Room): Ask => ({
  kind: "poll with the token",
  status: 200,
  method: "GET",
  path: `/api/rooms/${id}?after=0`,
  token,
})

/** It has the form of one. */
const strange = "A".repeat(43)

const written = (address: string, { body, method, path, token }: Ask) => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: altar.example",
    `x-forwarded-for: ${address}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(text === undefined ? [] : ["content-type: application/json", `content-length: ${text.length}`]),
  ]
  return `${lines.join("\r\n")}\r\n\r\n${text ?? ""}`
}

const roomOf = (answer: Answer): ReadonlyArray<Room> => {
  if (answer.status !== 201) return []
  const { room, token }: { readonly room: { readonly id: string }; readonly token: string } = JSON.parse(bodyOf(answer))
  return [{ id: room.id, token }]
}

const times = (count: number, make: (index: number) => Ask) => Array.from({ length: count }, (_, index) => make(index))

export const flood = async ({ addresses, patience, progress, url }: Options): Promise<Flooded> => {
  const answers = new Map<string, number>()
  const faults: Array<string> = []
  let [next, done, rooms, messages] = [0, 0, 0, 0]
  const blame = (what: string) => {
    if (faults.length < most) faults.push(what)
  }

  /** Answers to what one address asks, in order; each is held against the document. */
  const asked = async (line: Line, address: string, asks: ReadonlyArray<Ask>) => {
    const all: Array<Answer> = []
    for (let from = 0; from < asks.length; from += pipelined) {
      const part = asks.slice(from, from + pipelined)
      const bytes = Buffer.from(part.map((ask) => written(address, ask)).join(""))
      const methods = part.map(({ method }) => method)
      const came = await line.ask(bytes, methods, patience)
      if (came.length < part.length) blame(`${came.length} answers to ${part.length} requests of ${address}`)
      for (const [index, answer] of came.entries()) {
        const { kind, method, path, status } = part[index] ?? create
        const name = `${kind}: ${answer.status}`
        answers.set(name, (answers.get(name) ?? 0) + 1)
        if (answer.status !== status && answer.status !== 429) blame(`${kind} got ${answer.status}, not ${status}`)
        const { headers, status: heard } = answer
        for (const fault of faultsOf({ method, url: `${url}${path}`, status: heard, headers, body: bodyOf(answer) }))
          blame(fault)
      }
      all.push(...came)
    }
    return all
  }

  /**
   * All at once, and more than the share of one window: what is taken is never more than the windows that passed allow. What
   * a room refuses takes nothing.
   */
  const share = async (line: Line, address: string, { name, windows }: Policy, asks: ReadonlyArray<Ask>) => {
    const began = performance.now()
    const all = await asked(line, address, asks)
    const took = (performance.now() - began) / 1000
    const taken = all.filter(({ status }) => status < 300).length
    for (const { quota, seconds } of windows) {
      const allowed = quota * (Math.floor(took / seconds) + 1)
      if (taken > allowed)
        blame(`${address} took ${taken} of ${name} in ${took.toFixed(0)} s, and ${allowed} is its share`)
    }
    return all
  }

  /** More than the first window of a policy takes. */
  const beyond = ({ windows: [first] }: Policy) => (first?.quota ?? 0) + 2

  const one = async (line: Line, index: number) => {
    const address = addressOf(index)
    const made = (
      await share(
        line,
        address,
        creations,
        times(beyond(creations), () => create),
      )
    ).flatMap(roomOf)
    const roomAt = (turn: number) => made[turn % made.length]
    const [first] = made
    if (first === undefined) return blame(`${address} got no room`)
    rooms += made.length
    const sent = await share(
      line,
      address,
      sends,
      times(beyond(sends), (turn) => send(roomAt(turn) ?? first)),
    )
    messages += sent.filter(({ status }) => status === 201).length
    const wrong = { token: strange, status: 401 }
    const looks = [
      ...made.map(poll),
      ...made.map((room): Ask => ({ ...poll(room), ...wrong, kind: "poll with a wrong token" })),
      ...times(2, () => ({ ...poll({ ...first, id: randomUUID() }), kind: "poll of no room", status: 404 })),
    ]
    // All do as much as a client does; every tenth until nothing is answered any more.
    if (index % 10 !== 0) {
      await asked(line, address, looks)
      return
    }
    await share(line, address, reads, [...looks, ...times(beyond(reads), (turn) => poll(roomAt(turn) ?? first))])
    const erase: Ask = { ...poll(first), ...wrong, kind: "deletion with a wrong token", method: "DELETE" }
    await asked(
      line,
      address,
      times(beyond(deletions), () => ({ ...erase, path: `/api/rooms/${first.id}` })),
    )
  }

  const work = async () => {
    const line = new Line(Number(new URL(url).port))
    while (next < addresses) {
      const index = next
      next += 1
      await one(line, index)
      done += 1
      if (done % 100 === 0) await progress?.(done)
    }
    line.close()
  }
  await Promise.all(Array.from({ length: connections }, work))
  return { answers, rooms, messages, faults }
}

/** What a neighbour is answered, at an address of its own. */
export const neighbour = async (url: string, ask: Ask): Promise<Answer> => {
  const line = new Line(Number(new URL(url).port))
  const [answer] = await line.ask(Buffer.from(written("192.0.2.1", ask)), [ask.method], 60_000)
  line.close()
  if (answer?.status !== ask.status) throw new Error(`A neighbour's ${ask.kind} got ${answer?.status ?? "no answer"}`)
  return answer
}

export const openRoom = async (url: string): Promise<Room> => {
  const [room] = roomOf(await neighbour(url, create))
  if (room === undefined) throw new Error("A neighbour got no room")
  return room
}
