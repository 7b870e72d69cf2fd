/** Assertions about answers in one line. */
import { assert } from "@effect/vitest"
import type { Answer } from "./Fixture.ts"

export const statusesOf = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status)

/** The status, the code and, where it is given, the reason of a refusal. */
export const assertAnswer = (answer: Answer, status: number, code: string, reason?: string, what = answer.text) =>
  assert.deepStrictEqual(
    [answer.status, answer.json["code"], ...(reason === undefined ? [] : [answer.json["reason"]])],
    [status, code, ...(reason === undefined ? [] : [reason])],
    what,
  )
