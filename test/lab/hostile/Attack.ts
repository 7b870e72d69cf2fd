/** Sends so many requests of a seed, so many connections at a time, and judges every answer. */
import { hash } from "node:crypto"
import { random } from "../Random.ts"
import { faultsOf, nameOf } from "../run/Contract.ts"
import { type Answer, answersIn, bodyOf, exchange } from "./Exchange.ts"
import { type Expected, type Known, volley, type Volley } from "./Requests.ts"

export interface Options {
  readonly url: string
  readonly requests: number
  readonly seed: string
  readonly connections: number
  /** Milliseconds an answer may take. */
  readonly patience: number
  readonly isOver?: () => boolean
  /** Otherwise acts that are listed, and rooms that are opened for the attack. */
  readonly known?: Known
  /** Told whenever a thousand more are done. */
  readonly progress?: (done: number) => void | Promise<void>
}

export interface Report {
  readonly requests: number
  /** Requests whose bytes were no HTTP. */
  readonly broken: number
  /** Answers held against the document, body and headers. */
  readonly judged: number
  /** Answers of 500 and above, answers that the document does not know, and answers that never came; at most 100. */
  readonly faults: ReadonlyArray<string>
}

const most = 100

/** Bodies that are remembered; beyond them all are judged anew. */
const remembered = 200_000

/** Bytes that show what was asked, without the end of what is long. */
const shown = ({ bytes }: Volley) => JSON.stringify(bytes.toString("latin1").slice(0, 600))

/** A normalized URL requests something else than was sent, and no route has a semicolon. */
const isPlain = (origin: string, target: string) => {
  const path = target.split("?", 1)[0] ?? ""
  return URL.parse(`${origin}${target}`)?.pathname === path && !path.includes(";")
}

/** A room to speak in, of an address of its own. */
const openRoom = async (origin: string, address: string): Promise<Known["rooms"][number]> => {
  const response = await fetch(`${origin}/api/rooms`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: "{}",
  })
  const { room, token }: { readonly room?: { readonly id: string }; readonly token?: string } = await response.json()
  if (room === undefined || token === undefined) throw new Error(`no room was opened: ${response.status}`)
  return { id: room.id, token }
}

/** Public names of sold acts. */
const namesOf = async (origin: string): Promise<ReadonlyArray<string>> => {
  const acts = await (await fetch(`${origin}/api/acts?limit=20`)).text()
  const ids = [...acts.matchAll(/"(?:id|actId|witnessId)":"([0-9a-f-]{36})"/gu)]
  return [...new Set(ids.map(([, id = ""]) => id))]
}

/** Rooms that may get messages at any time: one that is deleted makes place for another. */
const rooms = 8

/** The same seed, number of connections and known names send the same bytes. */
export const attack = async (options: Options): Promise<Report> => {
  const { connections, isOver = () => false, patience, progress, requests, seed, url } = options
  let count = 0
  const open = () => {
    count += 1
    return openRoom(url, `10.${98 - (count >> 16)}.${(count >> 8) & 255}.${count & 255}`)
  }
  const opened = options.known === undefined ? await Promise.all(Array.from({ length: rooms }, open)) : []
  const known = options.known ?? { ids: await namesOf(url), rooms: opened }
  /** Opens another room where one was deleted. */
  const renew = async (target: string) => {
    const place = opened.findIndex(({ id }) => target.includes(id))
    if (place !== -1) opened[place] = await open()
  }
  const faults: Array<string> = []
  let [sent, done, broken, judged] = [0, 0, 0, 0]
  const seen = new Set<string>()
  /** Whether no body of these bytes was held against the document as an answer of this kind. */
  const isNew = (kind: string, bytes: Uint8Array) => {
    const name = `${kind} ${hash("sha256", bytes, "base64url")}`
    if (seen.has(name)) return false
    if (seen.size >= remembered) seen.clear()
    seen.add(name)
    return true
  }
  const blame = (what: string, shot: Volley, at: string) => {
    if (faults.length < most) faults.push(`${at}: ${what}\n    ${shown(shot)}`)
  }

  const judge = ({ method, target }: Expected, answer: Answer, shot: Volley, at: string) => {
    const { bytes, headers, status } = answer
    // Too much in a head is refused before there is a request that could be named.
    if (status === 431 && headers.get("x-request-id") === null) return
    // A HEAD gets the head of a GET.
    const asked = { method: method === "HEAD" ? "GET" : method, url: `${url}${target}` }
    const name = isPlain(url, target) ? nameOf(asked) : undefined
    if (status >= 500) {
      const body = bodyOf(answer)
      // Whether a documented operation may answer so is judged below, as of any status.
      const isExplained = status === 503 && (/"code":"\w+"/u.test(body) || name !== undefined)
      if (!isExplained) blame(`${method} ${status} ${body.slice(0, 200)}`, shot, at)
    } else if (!(status >= 200)) blame(`${method} ${status}`, shot, at)
    if (name === undefined) return
    judged += 1
    const kind = `${name} ${status} ${headers.get("content-type")} ${headers.get("content-encoding")}`
    const isRead = method !== "HEAD" && isNew(kind, bytes)
    const heard = { ...asked, status, headers, ...(isRead ? { body: bodyOf(answer) } : {}) }
    for (const fault of faultsOf(heard)) blame(fault, shot, at)
  }

  const port = Number(new URL(url).port)
  const one = async (shot: Volley, at: string) => {
    const came = await exchange(port, shot.bytes, patience, shot.isBroken)
    if (shot.isBroken) {
      broken += 1
      const statuses = came.toString("latin1").matchAll(/HTTP\/1\.1 (5\d{2}) /gu)
      for (const [, status] of statuses) blame(`${status} for what is no HTTP`, shot, at)
      return
    }
    const methods = shot.expected.map(({ method }) => method)
    const answers = answersIn(came, methods)
    for (const [index, answer] of answers.entries()) {
      const expected = shot.expected[index]
      if (expected === undefined) continue
      judge(expected, answer, shot, at)
      if (expected.method === "DELETE" && answer.status < 300) await renew(expected.target)
    }
    const wasClosed = answers.at(-1)?.headers.get("connection") === "close"
    if (answers.length < methods.length && !wasClosed && !shot.expected.some(({ isTooLong }) => isTooLong))
      blame(`${answers.length} answers to ${shot.expected.length} requests`, shot, at)
  }

  const work = async (index: number) => {
    const chance = random(`${seed}/${index}`)
    for (let turn = 0; sent < requests && !isOver(); turn += 1) {
      const shot = volley(chance, known)
      const size = Math.max(1, shot.expected.length)
      sent += size
      await one(shot, `connection ${index}, volley ${turn}`)
      const before = done
      done += size
      if (Math.floor(before / 1000) < Math.floor(done / 1000)) await progress?.(done)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => work(index)))
  return { requests: done, broken, judged, faults }
}
