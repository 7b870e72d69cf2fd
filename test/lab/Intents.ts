/** Intents as the pipeline hands them to the ledger, without signatures or calls to a node. */
import { randomBytes } from "node:crypto"
import { Option } from "effect"
import type { ChainPayment } from "../../src/payments/Payment.ts"
import { usdc } from "../../schema/payments/Usdc.ts"
import type { NewAttempt } from "../../src/payments/store/Claim.ts"

const network = "eip155:84532"

export const newHex = (bytes: number): `0x${string}` => `0x${randomBytes(bytes).toString("hex")}`
export const newName = () => `name-${randomBytes(8).toString("hex")}`

/** A cent, to be had for an hour, by a wallet of its own. */
export const newPayment = (changes: Partial<ChainPayment["authorization"]> = {}): ChainPayment => ({
  rail: "x402",
  network,
  authorization: {
    asset: usdc[network].asset,
    from: newHex(20),
    to: newHex(20),
    value: 10_000n,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 3600),
    nonce: newHex(32),
    signature: newHex(65),
    ...changes,
  },
  fromBlock: 7n,
  transaction: Option.none(),
})

/** The payer's balance is ignored unless it is given. */
export const newIntent = (changes: Partial<NewAttempt> = {}): NewAttempt => ({
  idempotencyKey: newName(),
  fingerprint: newName(),
  act: "setWitnessStone",
  url: "https://altar.example/api/witness",
  input: {},
  amountAtomic: 10_000n,
  payment: newPayment(),
  claims: { slots: [] },
  acceptedAtMillis: Date.now(),
  leaseMillis: 60_000,
  ...changes,
})
