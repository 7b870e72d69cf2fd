/** `admin receipt-key`: makes the key that signs receipts. */
import { Console, Effect, Redacted, Result } from "effect"
import { fromText, generate } from "../../log/Signer.ts"
import { command, text } from "../Define.ts"
import { CommandFailure } from "../CommandFailure.ts"

export const receiptKey = command("receipt-key", {
  description:
    "Make a random key for receipts, and print it with its verifier key. Nothing is stored. After a rotation, list the old verifier key in RECEIPT_KEYS_RETIRED, so that old receipts stay valid",
  summary: "Make a key for receipts, and its verifier key",
  examples: [["spirit-altar admin receipt-key --name receipts-2026-11 >> .env", "A first key"]],
  flags: {
    name: text("name", "Name of the key in /.well-known/did.json, never used before, such as receipts-2026-11"),
  },
  run: Effect.fnUntraced(function* ({ name }) {
    const made = generate(name)
    const signer = Result.flatMap(made, fromText)
    if (Result.isFailure(made) || Result.isFailure(signer) || !/^[A-Za-z0-9._-]{1,64}$/u.test(name)) {
      return yield* new CommandFailure({ message: `${name} names no key: use 1 to 64 of A-Z a-z 0-9 . _ -` })
    }
    yield* Console.log(
      `# The verifier key of ${name}, for RECEIPT_KEYS_RETIRED after a rotation: ${signer.success.vkey}`,
    )
    yield* Console.log(`RECEIPT_KEY=${Redacted.value(made.success)}`)
  }),
})
