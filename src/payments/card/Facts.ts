/** The facts about card payments that hold on every server: how they come, and what to say of a failed one. */
import { refuse } from "../Payment.ts"
import type { RailFacts } from "../Rail.ts"
import { cardCredentialIn } from "./Challenge.ts"

export const facts: RailFacts<"card"> = {
  name: "card",
  credentialIn: ({ authorization }) => cardCredentialIn(authorization),
  notHere: refuse("card_not_accepted", "This route does not accept cards. Pay by x402, as PAYMENT-REQUIRED says."),
  failure: () => ({}),
  paidLate: ({ transaction }) =>
    `This card was charged after its attempt had ended unpaid: payment intent ${transaction} is recorded for the operator, who delivers or refunds it. Do not pay again before the operator has decided.`,
}
