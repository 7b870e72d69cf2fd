/** Detects sandboxes and requests their play money; only there are wallets created for their owner. */
import { Effect, Option, Schema } from "effect"
import { usdcNetworks } from "../../../schema/payments/Usdc.ts"
import { processesHere } from "../../sandbox/DataFolder.ts"
import { CommandFailure } from "../CommandFailure.ts"

/** A sandbox pays with play money on one of these networks; any other network means real money. */
const Sandbox = Schema.Struct({
  network: Schema.Literals(usdcNetworks),
  asset: Schema.String,
  payTo: Schema.String,
})
export type Sandbox = typeof Sandbox.Type
const SandboxJson = Schema.fromJsonString(Sandbox)

const timeout = 20_000

/** Refuses while it is unknown whether this is a sandbox, because the choice of key depends on it. */
const undecided = (altar: string, why: string) =>
  new CommandFailure({ message: `${altar} ${why}. Nothing was signed, so nothing was charged.` })

/** None when the altar says that it is no sandbox; fails for any other answer, so that no key is used. */
export const sandboxOf = Effect.fn("sandboxOf")(function* (altar: string, request: typeof fetch) {
  const { json, status } = yield* Effect.tryPromise((signal) =>
    request(`${altar}/sandbox`, { redirect: "error", signal }).then((response) =>
      response.text().then((text) => ({ status: response.status, json: text })),
    ),
  ).pipe(
    Effect.timeout("1 minute"),
    Effect.mapError(
      () =>
        new CommandFailure({
          message: `${altar} does not answer: name your altar with --url, or start a sandbox with npm start.`,
        }),
    ),
  )
  if (status === 503) return yield* undecided(altar, "is still starting, or its parts do not answer: try again later")
  if (status === 429 || status >= 500)
    return yield* undecided(altar, `answers ${status} to the question whether it is a sandbox: try again later`)
  if (status !== 200) {
    const isHere = Option.exists(yield* processesHere, ({ url }) => url === altar)
    return isHere
      ? yield* undecided(altar, "is the address of this folder's sandbox, but another program answers there")
      : Option.none()
  }
  return Option.some(
    yield* Effect.mapError(
      Schema.decodeEffect(SandboxJson)(json),
      () => new CommandFailure({ message: `${altar} gives an unknown answer at /sandbox.` }),
    ),
  )
})

/** Requests ten dollars of play money from the altar. */
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
    catch: () => new CommandFailure({ message: `${faucet} does not answer.` }),
  }).pipe(
    Effect.filterOrFail(
      (status) => status === 200,
      (status) => new CommandFailure({ message: `${faucet} gave no play money: ${status}.` }),
    ),
    Effect.asVoid,
  )
}
