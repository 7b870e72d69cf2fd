/** The day by UTC that the server will see, too, when the test that asks for it goes on. */
import { Effect } from "effect"
import { patience } from "./Patience.ts"

const dayMillis = 86_400_000

/** Today's date. A day that ends before the test has is not begun: midnight is waited for. */
export const today = Effect.gen(function* () {
  const left = () => dayMillis - (Date.now() % dayMillis)
  while (left() < patience(30)) yield* Effect.sleep(left())
  return new Date().toISOString().slice(0, 10)
})
