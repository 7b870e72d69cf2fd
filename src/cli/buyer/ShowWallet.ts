/** `wallet`: the address that would pay at this altar. */
import { Effect } from "effect"
import { command } from "../Define.ts"
import { paying } from "../Flags.ts"
import { pretty } from "../Output.ts"

const { data, insecure, json, url, wallet: file } = paying

export const wallet = command("wallet", {
  description: "Show the address that would pay at this altar; a sandbox fills it with play money. No key is printed",
  summary: "Show the address that would pay",
  examples: [["spirit-altar wallet --wallet key.txt", "The address of a key file"]],
  flags: { data, insecure, json, url, wallet: file },
  run: (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./Session.ts")),
      ({ showWallet }) => showWallet(flags, pretty),
    ),
})
