/** Where a world and its model differ. */
import { isDeepStrictEqual } from "node:util"
import { Data, Effect } from "effect"

export class Difference extends Data.TaggedError("Difference")<{ readonly message: string }> {}

/** `what` of the world is what the model expects. */
export const differ = (what: string, found: unknown, expected: unknown) =>
  isDeepStrictEqual(found, expected)
    ? Effect.void
    : Effect.fail(
        new Difference({
          message: `${what}\n  is         ${JSON.stringify(found)}\n  instead of ${JSON.stringify(expected)}`,
        }),
      )

/** `what` was told one of these. */
export const among = (what: string, said: string, allowed: ReadonlyArray<string>) =>
  allowed.includes(said)
    ? Effect.void
    : Effect.fail(new Difference({ message: `${what} was told ${said} instead of ${allowed.join(" or ")}` }))
