/** Assertions about answers in one line. */
import { assert } from "@effect/vitest"
import type { Answer } from "./Fixture.ts"

/** The status, the code and, where it is given, the reason of a refusal. */
export const assertAnswer = (answer: Answer, status: number, code: string, reason?: string, what = answer.text) =>
  assert.deepStrictEqual(
    [answer.status, answer.json["code"], ...(reason === undefined ? [] : [answer.json["reason"]])],
    [status, code, ...(reason === undefined ? [] : [reason])],
    what,
  )

/** The error of a promise that must be rejected. */
export const rejected = <Error = { readonly code: string; readonly message: string }>(promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it should have been refused"),
    (error: Error) => error,
  )

export const valuesOf = <A, K extends keyof A>(all: ReadonlyArray<A>, name: K): Array<A[K]> =>
  all.map((item) => item[name])

/** Fails with the items that are wrong. */
export const assertNone = <A>(all: ReadonlyArray<A>, isWrong: (item: A, at: number) => boolean, why?: string) =>
  assert.deepStrictEqual(all.filter(isWrong), [], why)

export const assertSome = <A>(all: ReadonlyArray<A>, isSo: (item: A, at: number) => boolean, why: string) =>
  assert.isTrue(all.some(isSo), why)

/** The picked values of all, in order. */
export const assertEach = <A, B>(
  all: ReadonlyArray<A>,
  pick: (item: A, at: number) => B,
  expected: ReadonlyArray<B>,
  why?: string,
) => assert.deepStrictEqual(all.map(pick), expected, why)
