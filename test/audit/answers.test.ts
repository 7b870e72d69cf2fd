/** What buyers were told: it stays true, to the byte. */
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { auditing, type Fault, type Lie } from "./fixture/AuditFaults.ts"
import { newKey } from "../lab/Fixture.ts"
import type { GivenAnswer } from "./Given.ts"

const otherSpirit = spiritIds.at(-1) ?? ""
const keeper = "(SELECT id FROM payment_attempts WHERE act = 'takeIn' AND state = 'settled' ORDER BY id LIMIT 1)"

const faults: ReadonlyArray<Fault> = [
  [
    "a stored answer that changed",
    `UPDATE payment_attempts SET answer = replace(answer, 'moss-hare', '${otherSpirit}') WHERE id = ${keeper}`,
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a stored PAYMENT-RESPONSE that changed",
    `UPDATE payment_attempts SET payment_response = 'e30=' WHERE id = ${keeper}`,
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a purchase whose request is no longer known",
    `UPDATE payment_attempts SET fingerprint = repeat('7', 64) WHERE id = ${keeper}`,
    "a settled purchase is replayed, to the byte, by every server",
  ],
]

/** An answer of a status to a paid request. */
const paid = (status: number) => (answer: GivenAnswer) => answer.status === status && answer.key !== null

const refusal = (code: string, message: string) => JSON.stringify({ ok: false, code, message })

const lies: ReadonlyArray<Lie> = [
  [
    "a success of an unknown key",
    paid(201),
    (answer) => ({ ...answer, key: newKey() }),
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a replay that differs by a byte",
    paid(200),
    (answer) => ({ ...answer, body: `${answer.body.slice(0, -1)} }` }),
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a failure of what was paid",
    paid(200),
    (answer) => ({ ...answer, status: 402, body: refusal("payment_failed", "Nothing was charged") }),
    "what was said to have failed was not paid",
  ],
  [
    "a pending attempt that is not there",
    paid(201),
    (answer) => ({ ...answer, key: newKey(), status: 202, body: "{}" }),
    "what was said to be pending is on disk",
  ],
  [
    "an internal error",
    paid(201),
    (answer) => ({ ...answer, status: 500, body: refusal("internal", "x") }),
    "no answer is an internal error",
  ],
]

auditing("answers", faults, lies)
