/** Deliberate faults: a function of the decision or of a verification, by its name, and what it does instead. */

export interface Mutant {
  readonly fault: string
  readonly file: string
  /** The name of the function. */
  readonly breaks: string
  /** JavaScript that takes the whole function and returns the broken one. */
  readonly by: string
  /** The test file of `test/fast` that has to notice it. */
  readonly test: string
}

const always = (value: string) => `() => () => ${value}`
const resolved = (value: string) => `() => async () => ${value}`

export const mutants: ReadonlyArray<Mutant> = [
  // The decision.
  {
    fault: "one inquiry is enough to fail an attempt",
    file: "src/payments/decision.ts",
    breaks: "decide",
    by: "(decide) => (found, state, doubt, apart) => decide(found, state, doubt, -apart)",
    test: "payment-protocol",
  },
  {
    fault: "any doubt agrees with any other",
    file: "src/payments/decision.ts",
    breaks: "decide",
    by: "(decide) => (found, state, doubt, apart) => decide(found, state, doubt && { ...doubt, reason: found.reason ?? state.reason }, apart)",
    test: "payment-protocol",
  },
  {
    fault: "every request may prove an attempt unsent",
    file: "src/payments/decision.ts",
    breaks: "submissionStateOf",
    by: "(whole) => (submission, declined) => whole(submission, declined, true)",
    test: "payment-protocol",
  },
  {
    fault: "a used authorization counts as unused",
    file: "src/payments/chain/Evidence.ts",
    breaks: "findingOf",
    by: "(whole) => (evidence) => whole({ ...evidence, unused: true })",
    test: "payment-protocol",
  },
  // The evidence.
  {
    fault: "any logs pay an authorization",
    file: "src/payments/chain/Eip3009.ts",
    breaks: "pays",
    by: always("true"),
    test: "eip3009",
  },
  {
    fault: "a cancellation is a use",
    file: "src/payments/chain/Eip3009.ts",
    breaks: "endIn",
    by: "(whole) => (...of) => whole(...of) && 'used'",
    test: "evidence-table",
  },
  // The verification of a payment.
  {
    fault: "any key may have signed a payment",
    file: "src/payments/verify/Signature.ts",
    breaks: "makeRecover",
    by: resolved("({ from }) => from"),
    test: "signatures",
  },
  {
    fault: "a payment of any amount to anyone matches the offer",
    file: "src/payments/verify/Offer.ts",
    breaks: "mismatch",
    by: always("undefined"),
    test: "offer",
  },
  {
    fault: "an authorization may live as long as it likes",
    file: "src/payments/verify/Offer.ts",
    breaks: "longestLife",
    by: always("2n ** 256n"),
    test: "offer",
  },
  // The verification of a chain.
  {
    fault: "a link may follow any other",
    file: "schema/altar/ChainCheck.ts",
    breaks: "checkLink",
    by: "(whole) => (...of) => ({ ...whole(...of), follows: true })",
    test: "recipes",
  },
  {
    fault: "a link may have any hash",
    file: "schema/altar/ChainCheck.ts",
    breaks: "checkLink",
    by: "(whole) => (...of) => ({ ...whole(...of), hashes: true })",
    test: "recipes",
  },
  {
    fault: "the head may be any link",
    file: "schema/altar/ChainCheck.ts",
    breaks: "headFault",
    by: always("undefined"),
    test: "recipes",
  },
  {
    fault: "any words match a commitment",
    file: "src/buyer/core/Commitment.ts",
    breaks: "checkReveal",
    by: resolved("undefined"),
    test: "verified",
  },
  // The verification of a log.
  {
    fault: "a leaf is hashed as a node",
    file: "schema/log/Merkle.ts",
    breaks: "leafHash",
    by: "() => (hash, entry) => hash(concat(nodePrefix, entry))",
    test: "log-tree",
  },
  {
    fault: "every entry is in every tree",
    file: "src/buyer/log/MerkleProofs.ts",
    breaks: "includes",
    by: resolved("true"),
    test: "log-tree",
  },
  {
    fault: "every tree continues every other",
    file: "src/buyer/log/MerkleProofs.ts",
    breaks: "extendsTree",
    by: resolved("true"),
    test: "log-tree",
  },
  {
    fault: "any signature of a checkpoint is valid",
    file: "src/buyer/log/WebCrypto.ts",
    breaks: "isSigned",
    by: resolved("true"),
    test: "log-signatures",
  },
  // The verification of a receipt and of a sale.
  {
    fault: "a receipt with a broken check is sound",
    file: "src/buyer/receipt/Checks.ts",
    breaks: "isSound",
    by: always("true"),
    test: "receipt-file",
  },
  {
    fault: "a buyer signs any challenge",
    file: "src/buyer/core/Expectation.ts",
    breaks: "mismatchOf",
    by: always("undefined"),
    test: "scripted-altar",
  },
  {
    fault: "a buyer accepts any record",
    file: "src/buyer/core/Recorded.ts",
    breaks: "differencesOf",
    by: resolved("[]"),
    test: "recorded",
  },
]
