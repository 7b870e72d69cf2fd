/** Deliberate faults: a function of the decision or of a verification, by its name, and what it does instead. */

export interface Mutant {
  readonly fault: string
  readonly file: string
  readonly breaks: string
  /** JavaScript that takes the whole function and returns the broken one. */
  readonly by: string
  /** The test file of `test/fast` that has to notice it. */
  readonly test: string
}

const always = (value: string) => `() => () => ${value}`
const resolved = (value: string) => `() => async () => ${value}`

/** By test of `test/fast`, and by source file and function: each fault, with JavaScript that takes the whole function and returns the broken one. */
const faults: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  "payment-protocol": {
    "src/payments/decision.ts decide": {
      "one inquiry is enough to fail an attempt":
        "(decide) => (found, state, doubt, apart) => decide(found, state, doubt, -apart)",
      "any doubt agrees with any other":
        "(decide) => (found, state, doubt, apart) => decide(found, state, doubt && { ...doubt, reason: found.reason ?? state.reason }, apart)",
    },
    "src/payments/decision.ts submissionStateOf": {
      "every request may prove an attempt unsent": "(whole) => (submission) => whole(submission, true)",
    },
    "src/payments/x402/chain/Evidence.ts findingOf": {
      "a used authorization counts as unused": "(whole) => (evidence) => whole({ ...evidence, unused: true })",
    },
  },
  eip3009: {
    "src/payments/x402/chain/Eip3009.ts pays": { "any logs pay an authorization": always("true") },
  },
  "evidence-table": {
    "src/payments/x402/chain/Eip3009.ts endIn": {
      "a cancellation is a use": "(whole) => (...of) => whole(...of) && 'used'",
    },
  },
  signatures: {
    "src/payments/x402/verify/Signature.ts makeRecover": {
      "any key may have signed a payment": resolved("({ from }) => from"),
    },
  },
  offer: {
    "src/payments/x402/verify/Offer.ts mismatch": {
      "a payment of any amount to anyone matches the offer": always("undefined"),
    },
    "src/payments/x402/verify/Offer.ts longestLife": {
      "an authorization may live as long as it likes": always("2n ** 256n"),
    },
  },
  recipes: {
    "schema/altar/ChainCheck.ts checkLink": {
      "a link may follow any other": "(whole) => (...of) => ({ ...whole(...of), follows: true })",
      "a link may have any hash": "(whole) => (...of) => ({ ...whole(...of), hashes: true })",
    },
    "schema/altar/ChainCheck.ts headFault": { "the head may be any link": always("undefined") },
  },
  verified: {
    "src/buyer/core/Commitment.ts checkReveal": { "any words match a commitment": resolved("undefined") },
  },
  "log-tree": {
    "schema/log/Merkle.ts leafHash": {
      "a leaf is hashed as a node": "() => (hash, entry) => hash(concat(nodePrefix, entry))",
    },
    "src/buyer/log/MerkleProofs.ts includes": { "every entry is in every tree": resolved("true") },
    "src/log/Tree.ts extendsTree": { "every tree continues every other": always("true") },
  },
  "log-signatures": {
    "src/buyer/log/WebCrypto.ts isSigned": { "any signature of a checkpoint is valid": resolved("true") },
  },
  "receipt-file": {
    "src/buyer/receipt/Checks.ts isSound": { "a receipt with a broken check is sound": always("true") },
  },
  "scripted-altar": {
    "src/buyer/core/Expectation.ts mismatchOf": { "a buyer signs any challenge": always("undefined") },
  },
  recorded: {
    "src/buyer/core/Recorded.ts differencesOf": { "a buyer accepts any record": resolved("[]") },
  },
}

export const mutants: ReadonlyArray<Mutant> = Object.entries(faults).flatMap(([test, functions]) =>
  Object.entries(functions).flatMap(([name, broken]) => {
    const [file = "", breaks = ""] = name.split(" ")
    return Object.entries(broken).map(([fault, by]) => ({ fault, file, breaks, by, test }))
  }),
)
