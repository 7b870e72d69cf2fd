/** Checks signatures in a thread of its own: each takes a fifth of a millisecond. */
import { parentPort } from "node:worker_threads"
import { makeIsSigned, signingLength } from "./SigningKey.ts"

const isSigned = await makeIsSigned()

/** One byte per signing: 1 if the payer's own key signed. */
const verdicts = (signings: Uint8Array) =>
  Uint8Array.from({ length: signings.byteLength / signingLength }, (_, index) =>
    Number(isSigned(signings.subarray(index * signingLength, (index + 1) * signingLength))),
  )

parentPort?.on("message", (signings: Uint8Array) => parentPort?.postMessage(verdicts(signings), []))
