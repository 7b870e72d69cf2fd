/** One rule for every name and text that others see, in the altar and in the rooms. */
import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { AgentName } from "../../schema/Common.ts"
import { Dedication } from "../../schema/altar/Candle.ts"
import { Reason } from "../../schema/altar/Keeper.ts"
import { MessageBody } from "../../schema/room/Message.ts"
import { RoomBody } from "../../schema/room/Room.ts"

const { sender, text } = MessageBody.fields
const fields = {
  agentName: AgentName,
  dedication: Dedication,
  reason: Reason,
  sender,
  text,
  name: RoomBody.fields.name,
}

const isRead = (schema: Schema.Decoder<unknown>, value: string) =>
  Exit.isSuccess(Schema.decodeUnknownExit(schema)(value))

const empty = [
  ..."\u200b\u3164\u2800\u00ad\u2060\ufeff\u115f\u1160\uffa0\u180e\u034f\u17b4\u200c\u200d\u2062\ufff9\u0301\u20e3\ufe0f",
  ..."\u{e0041}\u{e0100}\u{e0001}\u{1d173}\u{1d159}\u{13441}\u{16fe4}\u3000\u00a0\u2003 ",
  "\u2800 \u2800",
  "\u200b\u00ad\u{e0061}\u{e007f}",
]
const turning = ["\u202e", "\u202a", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"].map((one) => `a${one}b`)
const broken = [..."\u2028\u2029\u0085\n\t\u0000\ud800\ufdd0\ufffe\uffff\u{1ffff}"].map((one) => `a${one}b`)
const innocent = [
  ..."Wren \u00e9 e\u0301 \u5f35 \u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \u{1faa8} \u2764\ufe0f".split(
    " ",
  ),
  ..."1\ufe0f\u20e3 \u{1f469}\u200d\u{1f4bb} \u0915\u094d\u200d\u0937 .".split(" "),
  "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  "a  b",
]

const maxima = new Map(Object.entries({ agentName: 64, dedication: 40, reason: 280, sender: 40, text: 160, name: 60 }))

describe.each(Object.entries(fields))("%s", (name, field) => {
  it("has as many code points as its maximum, and no more", () => {
    const maximum = maxima.get(name) ?? 0
    assert.isTrue(isRead(field, "\u{1faa8}".repeat(maximum)))
    assert.isFalse(isRead(field, "\u{1faa8}".repeat(maximum + 1)))
  })
  it.each(empty)("is refused where nothing of it can be seen: %j", (value) => assert.isFalse(isRead(field, value)))
  it.each(turning)("is refused with a bidirectional control: %j", (value) => assert.isFalse(isRead(field, value)))
  it.each(broken)("is refused with a control, separator or noncharacter: %j", (value) =>
    assert.isFalse(isRead(field, value)),
  )
  it.each(innocent)("may be %j", (value) => assert.isTrue(isRead(field, value)))
})
