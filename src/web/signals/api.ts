/** Requests to the room; every answer is a value, nothing throws, and the token travels only in its header. */
import type { Message, MessageBody } from "../../../schema/room/Message.ts"
import type { Created, Deleted, Replayed, Sent, Signals } from "../../../schema/room/Room.ts"
import type { RoomRefusal } from "../../../schema/room/Errors.ts"
import { inTime } from "./dom.ts"
import type { Invite } from "./invite.ts"

export type Message = typeof Message.Type
export type Signals = typeof Signals.Type
export type Mode = Message["mode"]

export interface Problem {
  /** `OFFLINE`: no answer arrived, so the outcome of the request is unknown. */
  readonly code: RoomRefusal["error"]["code"] | "OFFLINE"
  readonly message: string
  /** Seconds to wait, 0 when the server asked for none. */
  readonly retryAfter: number
  /** The limit that is reached, in words. */
  readonly limit?: string
}

export type Answer<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly problem: Problem }

/** The room is over for this visitor; a retry changes nothing. */
export const isOver = ({ code }: Problem) => ["UNAUTHORIZED", "NOT_FOUND", "EXPIRED"].includes(code)

/** Whether the request may have arrived all the same. */
export const isUnknown = ({ code }: Problem) => ["OFFLINE", "INTERNAL", "UNAVAILABLE"].includes(code)

/** The reason of a problem as a sentence. */
export const reasonOf = (problem: Problem) => {
  const { code, limit, message } = problem
  if (code === "OFFLINE") return "No connection to the server."
  if (isUnknown(problem)) return "The server cannot answer now."
  // Browsers send the page's origin with a write, and the room accepts only its own public one.
  if (code === "FORBIDDEN")
    return "This page was opened at another address than the server's own, such as localhost for 127.0.0.1. Open it at the address the server names."
  return limit === undefined ? message : `The limit of ${limit} is reached.`
}

export const nextOf = ({ retryAfter }: Problem) =>
  retryAfter > 0 ? `Try again in ${inTime(retryAfter)}.` : "Press the button again in a moment."

const problemOf = async (response: Response): Promise<Problem> => {
  try {
    const {
      error,
      ...more
    }: Pick<Problem, "limit"> & {
      error: Pick<Problem, "code" | "message">
      retryAfter?: number
    } = await response.json()
    return { retryAfter: 0, ...more, ...error }
  } catch {
    // A proxy answered in a form of its own.
    return { code: "INTERNAL", message: "", retryAfter: 0 }
  }
}

const ask = async <A>(path: string, method: string, invite?: Invite, body?: object): Promise<Answer<A>> => {
  try {
    const response = await fetch(`/api/rooms${path}`, {
      method,
      headers: {
        ...(invite === undefined ? {} : { authorization: `Bearer ${invite.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(10_000),
    })
    return response.ok ? { ok: true, value: await response.json() } : { ok: false, problem: await problemOf(response) }
  } catch {
    return { ok: false, problem: { code: "OFFLINE", message: "", retryAfter: 0 } }
  }
}

export const create = (name: string) => ask<typeof Created.Type>("", "POST", undefined, name === "" ? {} : { name })

export const read = (invite: Invite, after: number) => ask<Signals>(`/${invite.room}?after=${after}`, "GET", invite)

export const send = (invite: Invite, message: MessageBody) =>
  ask<typeof Sent.Type | typeof Replayed.Type>(`/${invite.room}/messages`, "POST", invite, message)

export const remove = (invite: Invite) => ask<typeof Deleted.Type>(`/${invite.room}`, "DELETE", invite)
