/** A running server for the signal room: real database, no chain, and an invited member. */
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { network } from "../../../src/limits/Address.ts"
import type { AppConfig, ServerConfig } from "../../../src/server/config/Config.ts"
import type { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../Database.ts"
import { type Answer, ask, plainServer, post, served, serverConfig, type TestServer } from "../Fixture.ts"

/** Tests speak for many addresses, as a proxy on this machine does. */
export const loopback = [Result.getOrThrow(network("127.0.0.1"))]

export const rooms = (
  change: Partial<ServerConfig> = {},
): Layer.Layer<TestServer | LocalDatabase | SqlClient.SqlClient | AppConfig> =>
  served(serverConfig(["PAY_TO"], { trustedProxies: loopback, ...change }), plainServer).pipe(
    Layer.provideMerge(sql),
    Layer.provideMerge(database),
    Layer.orDie,
  )

let last = 0

/** A fresh address, so that tests do not use up each other's limits. */
export const newAddress = () => {
  last += 1
  return `198.18.${Math.floor(last / 250)}.${(last % 250) + 1}`
}

export type RoomClient = Effect.Success<ReturnType<typeof newRoom>>

export const from = (address: string) => ({ "x-forwarded-for": address })

export const bearer = ({ token }: Pick<RoomClient, "token">, address: string = newAddress()) => ({
  authorization: `Bearer ${token}`,
  ...from(address),
})

export const newRoom = Effect.fnUntraced(function* (url: string) {
  const answer = yield* ask(`${url}/api/rooms`, { method: "POST", headers: from(newAddress()) })
  const { room, token }: { room: { id: string }; token: string } = JSON.parse(answer.text)
  return { url, id: room.id, token }
})

export const sendSignal = (
  guest: RoomClient,
  change: Readonly<Record<string, unknown>> = {},
  address?: string,
): Effect.Effect<Answer> =>
  ask(
    `${guest.url}/api/rooms/${guest.id}/messages`,
    post({ sender: "Wren", text: "The build is green.", mode: "calm", ...change }, bearer(guest, address)),
  )

export const poll = (guest: RoomClient, query = "", address?: string): Effect.Effect<Answer> =>
  ask(`${guest.url}/api/rooms/${guest.id}${query}`, { headers: bearer(guest, address) })

export const remove = (guest: RoomClient, address?: string): Effect.Effect<Answer> =>
  ask(`${guest.url}/api/rooms/${guest.id}`, { method: "DELETE", headers: bearer(guest, address) })

/** Ends a room. The server's sweep skips locked rows, so this one stays until the scope closes. */
export const endRoom = Effect.fnUntraced(function* ({ id }: Pick<RoomClient, "id">) {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  yield* connection.executeUnprepared("BEGIN", [], undefined)
  yield* Effect.addFinalizer(() => Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined)))
  yield* connection.executeUnprepared(`SELECT FROM rooms WHERE id = '${id}' FOR KEY SHARE`, [], undefined)
  yield* sql`UPDATE rooms SET expires_at = now(), created_at = now() - interval '7 days' WHERE id = ${id}::uuid`
})

export const codeOf = (answer: Answer): string => {
  const body: { readonly error?: { readonly code: string } } = JSON.parse(answer.text)
  return body.error?.code ?? ""
}

export interface Polled {
  readonly room: { readonly latestSequence: number }
  readonly messages: ReadonlyArray<{ readonly id: string; readonly seq: number; readonly text: string }>
  readonly truncated: boolean
  readonly serverTime: string
}

export const polled = (answer: Answer): Polled => JSON.parse(answer.text)
