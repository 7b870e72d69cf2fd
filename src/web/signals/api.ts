/** Requests to the room; every answer is a value, nothing throws, and the token travels only in its header. */
import type { Message, MessageBody } from "../../../schema/room/Message.ts"
import type { Created, Deleted, Replayed, Sent, Signals } from "../../../schema/room/Room.ts"
import type { RoomRefusal } from "../../../schema/room/Errors.ts"
import type { Invite } from "./invite.ts"

export type Message = typeof Message.Type
export type Signals = typeof Signals.Type
export type Outgoing = MessageBody
export type Mode = Message["mode"]
export type SenderKind = Message["senderKind"]

export interface Problem {
  /** `OFFLINE`: no answer arrived, so the outcome of the request is unknown. */
  readonly code: RoomRefusal["error"]["code"] | "OFFLINE"
  readonly message: string
  /** Seconds to wait, 0 when the server asked for none. */
  readonly retryAfter: number
}

export type Answer<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly problem: Problem }

/** Browsers send the page's origin with a write, and the room accepts only its own public one. */
const elsewhere =
  "This page was opened at another address than the server's own, such as localhost for 127.0.0.1. Open it at the address the server names."

const over: ReadonlySet<string> = new Set(["UNAUTHORIZED", "NOT_FOUND", "EXPIRED"])

/** The room is over for this visitor; a retry changes nothing. */
export const isOver = ({ code }: Problem) => over.has(code)

/** The meaning of a problem, in the words of the calling part. */
export const explained = (
  { code, message, retryAfter }: Problem,
  words: {
    readonly offline: string
    readonly limited: (why: string, seconds: number) => string
    /** For a server that fails or cannot answer now. */
    readonly away: string
    readonly refused: (why: string) => string
  },
): string => {
  if (code === "OFFLINE") return words.offline
  if (code === "RATE_LIMITED") return words.limited(message.split(";")[0] ?? "", retryAfter)
  if (code === "INTERNAL" || code === "UNAVAILABLE") return words.away
  return words.refused(code === "FORBIDDEN" ? elsewhere : message)
}

/** Timeout of a request in milliseconds. */
const patience = 10_000

const offline: Problem = { code: "OFFLINE", message: "No answer arrived.", retryAfter: 0 }

const problemOf = async (response: Response): Promise<Problem> => {
  try {
    const { error, retryAfter = 0 }: { error: Pick<Problem, "code" | "message">; retryAfter?: number } =
      await response.json()
    return { code: error.code, message: error.message, retryAfter }
  } catch {
    // A proxy answered in a form of its own.
    return { code: "INTERNAL", message: `The server answered ${response.status}.`, retryAfter: 0 }
  }
}

const ask = async <A>(path: string, init: RequestInit, stop?: AbortSignal): Promise<Answer<A>> => {
  const timeout = AbortSignal.timeout(patience)
  try {
    const response = await fetch(`/api/rooms${path}`, {
      ...init,
      cache: "no-store",
      credentials: "omit",
      signal: stop === undefined ? timeout : AbortSignal.any([timeout, stop]),
    })
    return response.ok ? { ok: true, value: await response.json() } : { ok: false, problem: await problemOf(response) }
  } catch {
    return { ok: false, problem: offline }
  }
}

const json = { "content-type": "application/json" }
const bearer = ({ token }: Invite) => ({ authorization: `Bearer ${token}` })

export const create = (name: string) =>
  ask<typeof Created.Type>("", { method: "POST", headers: json, body: JSON.stringify(name === "" ? {} : { name }) })

export const read = (invite: Invite, after: number, stop: AbortSignal) =>
  ask<Signals>(`/${invite.room}?after=${after}`, { headers: bearer(invite) }, stop)

export const send = (invite: Invite, message: Outgoing) =>
  ask<typeof Sent.Type | typeof Replayed.Type>(`/${invite.room}/messages`, {
    method: "POST",
    headers: { ...json, ...bearer(invite) },
    body: JSON.stringify(message),
  })

export const remove = (invite: Invite) =>
  ask<typeof Deleted.Type>(`/${invite.room}`, { method: "DELETE", headers: bearer(invite) })
