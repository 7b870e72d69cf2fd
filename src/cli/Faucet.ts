/** Whether an altar is a sandbox, and its play money: the one place where a wallet may be made for its owner. */
import { Effect, Schema } from "effect"
import { usdcNetworks } from "../../schema/payments/Usdc.ts"
import { Trouble } from "./Trouble.ts"

/** A sandbox pays with play money on a network of this list: whoever names another one wants real money. */
const Sandbox = Schema.Struct({
  network: Schema.Literals(usdcNetworks),
  asset: Schema.String,
  payTo: Schema.String,
})
export type Sandbox = typeof Sandbox.Type

const timeout = 20_000

/** None when the altar says nothing of being one. */
export const sandboxOf = (altar: string) =>
  Effect.tryPromise({
    try: () =>
      fetch(`${altar}/sandbox`, { redirect: "error", signal: AbortSignal.timeout(timeout) }).then((response) =>
        response.status === 200 ? response.json() : response.text().then(() => undefined),
      ),
    catch: () =>
      new Trouble({
        message: `${altar} does not answer: name your altar with --url, or start a sandbox with npm start.`,
      }),
  }).pipe(
    Effect.flatMap((answer) =>
      answer === undefined
        ? Effect.succeedNone
        : Effect.asSome(
            Effect.mapError(
              Schema.decodeUnknownEffect(Sandbox)(answer),
              () => new Trouble({ message: `${altar} says something unknown at /sandbox.` }),
            ),
          ),
    ),
  )

/** Ten dollars of play money, from the altar itself. */
export const fund = (altar: string, address: string) => {
  const faucet = `${altar}/sandbox/fund`
  return Effect.tryPromise({
    try: () =>
      fetch(faucet, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ address }),
        redirect: "error",
        signal: AbortSignal.timeout(timeout),
      }).then((response) => response.status),
    catch: () => new Trouble({ message: `${faucet} does not answer.` }),
  }).pipe(
    Effect.filterOrFail(
      (status) => status === 200,
      (status) => new Trouble({ message: `${faucet} gave no play money: ${status}.` }),
    ),
    Effect.asVoid,
  )
}
