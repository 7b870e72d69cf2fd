/** Signal rooms: a signal that was lost, changed, shown to strangers or kept beyond the end of its room is found. */
import { auditing, type Fault, type Lie } from "./fixture/AuditFaults.ts"
import type { GivenAnswer } from "./Given.ts"

/** The room that stays and has had 52 signals; the others have ended. */
const room = "(SELECT id FROM rooms WHERE latest_sequence = 52)"

const checks = {
  sent: "a signal that was sent is in its room, as it was sent",
  once: "a clientId is one signal",
  order: "the signals of a room follow each other without gaps",
  bounded: "a room keeps its newest fifty signals",
  fresh: "a poll shows what had been answered before it was asked",
  invite: "nobody reads a room without its invite",
  end: "a room is there until its end, and gone after it",
}

const faults: ReadonlyArray<Fault> = [
  ["a signal that was lost", `DELETE FROM room_messages WHERE room_id = ${room} AND sequence = 40`, checks.sent],
  ["a room that keeps too few", `DELETE FROM room_messages WHERE room_id = ${room} AND sequence = 40`, checks.bounded],
  [
    "a signal that was changed",
    `UPDATE room_messages SET body = replace(body, 'Signal 40', 'Signal 4') WHERE room_id = ${room}`,
    checks.sent,
  ],
  [
    "two signals that changed places",
    `UPDATE room_messages SET body = CASE sequence
      WHEN 40 THEN replace((SELECT body FROM room_messages WHERE room_id = ${room} AND sequence = 41), '"seq":41', '"seq":40')
      ELSE replace((SELECT body FROM room_messages WHERE room_id = ${room} AND sequence = 40), '"seq":40', '"seq":41') END
    WHERE room_id = ${room} AND sequence IN (40, 41)`,
    checks.sent,
  ],
  [
    "a signal of another number than its row",
    `UPDATE room_messages SET body = replace(body, '"seq":40', '"seq":41') WHERE room_id = ${room} AND sequence = 40`,
    checks.order,
  ],
  ["a room that went back", `UPDATE rooms SET latest_sequence = 51 WHERE id = ${room}`, checks.sent],
  [
    "a room that keeps too many",
    `INSERT INTO room_messages SELECT room_id, 40, 40, replace(body, '"seq":1,', '"seq":40,') FROM room_messages
    WHERE room_id <> ${room} AND sequence = 1`,
    checks.bounded,
  ],
  ["a clientId of two signals", `UPDATE rooms SET client_keys[40] = client_keys[41] WHERE id = ${room}`, checks.once],
  [
    "a signal that is there twice",
    `UPDATE room_messages SET body = replace(body, '"Signal 41"', '"Signal 40"') WHERE room_id = ${room} AND sequence = 41`,
    checks.once,
  ],
  ["a clientId that is free again", `UPDATE rooms SET client_keys[40] = NULL WHERE id = ${room}`, checks.once],
  ["a room that was lost", `DELETE FROM rooms WHERE id = ${room}`, checks.end],
  [
    "a room that lives longer",
    `UPDATE rooms SET expires_at = expires_at + interval '1 day' WHERE id = ${room}`,
    checks.end,
  ],
  [
    "a room that outlives its end",
    "UPDATE rooms SET expires_at = now() + interval '1 day' WHERE latest_sequence = 1",
    checks.end,
  ],
  [
    "a room that another invite opens",
    `UPDATE rooms SET token_digest = sha256(convert_to('A' || substr(rpad(id::text, 43, 'A'), 2), 'UTF8')) WHERE id = ${room}`,
    checks.invite,
  ],
]

const isRoom = ({ url }: GivenAnswer) => /\/api\/rooms\/[^/]+/u.test(url)
const polled = (answer: GivenAnswer) => isRoom(answer) && answer.method === "GET" && answer.status === 200
const sent = (answer: GivenAnswer) => isRoom(answer) && answer.method === "POST" && answer.status === 201
const sentAgain = (answer: GivenAnswer) => isRoom(answer) && answer.method === "POST" && answer.status === 200

/** Asked in a later millisecond than what was answered before it. */
const asLater = (answer: GivenAnswer) => ({ ...answer, askedAt: (answer.askedAt ?? 0) + 1 })

const lies: ReadonlyArray<Lie> = [
  [
    "a signal that is not what was sent",
    sent,
    (answer) => ({ ...answer, requestBody: (answer.requestBody ?? "").replace("Wren", "Heron") }),
    checks.sent,
  ],
  ["a signal that was made twice", sentAgain, (answer) => ({ ...answer, status: 201 }), checks.once],
  [
    "a conflict of the same content",
    sentAgain,
    (answer) => ({ ...answer, status: 409, body: JSON.stringify({ error: { code: "CONFLICT", message: "x" } }) }),
    checks.once,
  ],
  [
    "a poll that leaves out its last signal",
    polled,
    (answer) => {
      const body = JSON.parse(answer.body)
      return { ...answer, body: JSON.stringify({ ...body, messages: body.messages.slice(0, -1) }) }
    },
    checks.order,
  ],
  [
    "a poll that speaks of signals that nobody evicted",
    polled,
    (answer) => ({ ...answer, body: answer.body.replace('"truncated":false', '"truncated":true') }),
    checks.order,
  ],
  [
    "a poll that is behind",
    (answer) => polled(answer) && answer.url.includes("after=15"),
    (answer) => {
      const body = JSON.parse(answer.body)
      const room = { ...body.room, latestSequence: 19 }
      return { ...asLater(answer), body: JSON.stringify({ ...body, room, messages: body.messages.slice(0, -1) }) }
    },
    checks.fresh,
  ],
  ["a poll by a stranger", polled, (answer) => ({ ...answer, invite: "x".repeat(43) }), checks.invite],
  ["a member who is kept out", polled, (answer) => ({ ...answer, status: 401, body: "{}" }), checks.invite],
  ["a room that is said to be gone", polled, (answer) => ({ ...answer, status: 404, body: "{}" }), checks.end],
  [
    "a poll of a room that had been deleted",
    (answer) => isRoom(answer) && answer.method === "GET" && answer.status === 404,
    (answer) => ({
      ...asLater(answer),
      url: `${answer.url}?after=2`,
      status: 200,
      body: JSON.stringify({ room: { latestSequence: 2 }, messages: [], truncated: false }),
    }),
    checks.end,
  ],
]

auditing("rooms", faults, lies)
