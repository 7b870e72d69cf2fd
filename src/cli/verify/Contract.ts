/** A contract wallet at the node of `--rpc`, asked whether it signed a statement. */
import { Effect, Option } from "effect"
import { Unproven } from "../../buyer/log/Verdict.ts"
import type { ContractSigned } from "../../buyer/receipt/Authority.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"

const noNode = () =>
  Promise.reject(
    new Unproven(
      "unsupported",
      "A contract is said to have signed the statement: name a node of its network with --rpc.",
    ),
  )

/** The code that asks is large, so it is loaded when a node is named. */
export const contractAt = (rpc: Option.Option<string>): Effect.Effect<ContractSigned> =>
  Option.isNone(rpc)
    ? Effect.succeed(noNode)
    : Effect.map(
        Effect.promise(() => import("../../buyer/receipt/ContractSigned.ts")),
        ({ contractSigned }) => contractSigned(rpc.value),
      )

/** A node that does not answer ends the command. */
export const asked = <A>(check: () => Promise<A>): Effect.Effect<A, CommandFailure> =>
  Effect.tryPromise({
    try: check,
    catch: (cause) =>
      new CommandFailure({
        message: plain(`The node of --rpc could not be asked: ${String(cause).split("\n")[0] ?? ""}`),
      }),
  })
