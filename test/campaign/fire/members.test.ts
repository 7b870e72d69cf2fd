/** Members of rooms say so when they are refused what the documents promise them. */
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import type { HttpAnswer } from "../../lab/buyer/Answers.ts"
import { members } from "./Members.ts"
import { random } from "../../lab/Random.ts"

const id = "0b7b1f0e-9f53-4b7c-8d0a-3c1f3a0d6c55"

const heard = (status: number, body: object): HttpAnswer => ({ status, headers: {}, body: JSON.stringify(body) })
const refused = (status: number, code: string) => heard(status, { error: { code, message: "x" } })

const well = {
  made: heard(201, { room: { id, latestSequence: 0 }, token: "t" }),
  sent: heard(201, {}),
  read: heard(200, { room: { id, latestSequence: 0 } }),
  ended: heard(200, {}),
  strange: refused(401, "UNAUTHORIZED"),
}

/** Their complaints about answers to creating, sending, reading and deleting. */
const complaints = async (otherwise: Partial<typeof well>) => {
  const { ended, made, read, sent, strange } = { ...well, ...otherwise }
  const gathered = members(
    "http://altar.example",
    {
      file: "",
      ask: async ({ headers, method, url }) => {
        if (method === "GET") return headers["authorization"] === undefined ? strange : read
        if (method === "DELETE") return ended
        return url.endsWith("/api/rooms") ? made : sent
      },
      close: async () => {},
    },
    random("members"),
  )
  await setTimeout(0)
  return gathered.rest()
}

describe("members of rooms", () => {
  it("report nothing in a correct history", async () => {
    assert.deepStrictEqual(await complaints({}), [])
  })

  it("accept a deletion whose answer was lost", async () => {
    assert.deepStrictEqual(await complaints({ ended: refused(404, "NOT_FOUND") }), [])
  })

  it("report a conflict, because each of their clientIds has one content", async () => {
    const found = await complaints({ sent: refused(409, "CONFLICT") })
    assert.lengthOf(found, 6)
    for (const one of found) assert.match(one, /^signal fire-[0-9a-f]{16} to .* was refused: 409 CONFLICT$/u)
  })

  it("report a room that is missing without a deletion", async () => {
    const found = await complaints({ read: refused(404, "NOT_FOUND") })
    assert.deepStrictEqual([...new Set(found)], [`a poll of ${id} was refused: 404 NOT_FOUND`])
  })

  it("report that no room could be created", async () => {
    const found = await complaints({ made: refused(400, "BAD_REQUEST") })
    const fates = ["stays", "is deleted", "is left"]
    assert.deepStrictEqual(
      found,
      fates.map((fate) => `a room that ${fate} was refused: 400 BAD_REQUEST`),
    )
  })
})
