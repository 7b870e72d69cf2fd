/** The manual for agents in Markdown: `/llms.txt`, and the text of the page. */
import { dedicationMaximum } from "../../schema/altar/Candle.ts"
import { reasonMaximum } from "../../schema/altar/Keeper.ts"
import { recipe, saltMaximum, saltMinimum, whiteSpace, wordsMaximum } from "../../schema/altar/Recipe.ts"
import { formOf } from "../../schema/Form.ts"
import { statusIn } from "../../schema/Refusal.ts"
import { agentNameMaximum, listMaximum, segmentMaximum } from "../../schema/Common.ts"
import { networkName } from "../../schema/payments/Usdc.ts"
import { openings, questions } from "../altar/Limits.ts"
import { spendPolicy } from "../altar/SpendPolicy.ts"
import type { LogIdentity } from "../log/PublishedLog.ts"
import { versions } from "./McpMessage.ts"
import { requests } from "./McpHttp.ts"
import type { Offer } from "./Offers.ts"
import { buying, rooms } from "./Shell.ts"
import * as Words from "./Words.ts"

const row = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

const list = (items: ReadonlyArray<string>) => items.map((item) => `- ${item}`).join("\n")

const costs = (offers: ReadonlyArray<Offer>) =>
  table(
    ["Action", "Price", "Atomic USDC", "Route", "Body (? may be left out)"],
    offers.map(({ act, amountAtomic, body, priceUsd }) => [
      `\`${act.name}\``,
      priceUsd,
      amountAtomic,
      `\`${act.route}\``,
      body.map(({ name, required }) => (required ? name : `${name}?`)).join(", "),
    ]),
  )

const paidTo = (offers: ReadonlyArray<Offer>): string => {
  const terms = offers[0]?.accepts[0]
  return terms === undefined
    ? "Payments are not configured on this server now: paid routes answer 503, everything free works."
    : `Every offer is scheme \`exact\` on ${networkName(terms.network)} (\`${terms.network}\`), asset \`${terms.asset}\` (${terms.extra.name}), paid to \`${terms.payTo}\`.`
}

/** Without payments no offer is as expected. */
const expectedOf = (offers: ReadonlyArray<Offer>) =>
  offers[0]?.accepts[0] ?? { payTo: "none", asset: "none", network: "none" }

/** Empty on servers that take no cards. */
const byCard = (offers: ReadonlyArray<Offer>): string => {
  const names = offers.flatMap(({ act, cards }) => (cards ? [`\`${act.name}\``] : []))
  return names.length === 0
    ? ""
    : `A card may pay for ${names.join(" and ")} instead: answer \`WWW-Authenticate: Payment\` of the same 402 (Machine Payments Protocol, method \`stripe\`) with a granted token in \`Authorization: Payment\`, and never with both at once. The key and the rule of a retry are the same.`
}

/** How a proof outlives this server. */
const logged = (publicUrl: string, { origin, vkey }: LogIdentity): string =>
  `Every stone is also a leaf of a transparency log (C2SP tlog-tiles, RFC 6962 hashing) named \`${origin}\`. Once the next checkpoint covers it, \`GET ${publicUrl}/api/witness/{id}/proof\` gives a \`.tlog-proof\` that is checked offline, for ever. Keep the verifier key: \`${vkey}\`. The newest checkpoint is at \`${publicUrl}/log/checkpoint\`, what is known of the log at \`${publicUrl}/api/witness/log\`.`

const lengths = `Lengths in code points: \`agentName\` 1-${agentNameMaximum}, \`reason\` 1-${reasonMaximum}, \`dedication\` 1-${dedicationMaximum}, \`salt\` ${saltMinimum}-${saltMaximum}, revealed \`text\` and unsealed \`words\` 1-${wordsMaximum} after normalization. \`Idempotency-Key\`: 12-128 of A-Z a-z 0-9 _ -. Commitments: 64 of 0-9 a-f. \`limit\`: 1-${listMaximum}, of a chain 1-${segmentMaximum}. Rooms: \`name\` 1-60, \`sender\` 1-40, \`text\` 1-160, \`clientId\` 1-64 of A-Z a-z 0-9 _ -.`

const limitsOf = (windows: typeof openings) =>
  windows.map(({ quota, seconds }) => `${quota} in ${seconds} s`).join(", ")

const quotas = `From one address: ${limitsOf(openings)} of reveals and unseals, ${limitsOf(questions)} of reconciles, ${limitsOf(requests)} of messages to MCP. Rooms: 5 new ones an hour and 10 a day; in 60 s 120 reads, 20 sends and 10 deletions, and 30 messages to one room from everybody.`

/** The remedy of every conflict. None of them charged anything. */
const conflicts = [
  "`idempotency_conflict`: the key belongs to another purchase; draw a new one.",
  "`payment_authorization_already_bound`: the payment belongs to another key; repeat that one, or sign a new payment.",
  "`reconcile_required`: reconcile this wallet's open payments, then repeat.",
  "`prayer_already_recorded`, `already_kept`, `sold_out`: choose another, or retry by `heldUntil`.",
  "`prayer_slot_taken`, `keeper_slot_taken`: retry in a minute, by `heldUntil` at the latest.",
  "`prayer_day_not_today`: leave `day` out. `parent_not_lit`: choose a lit candle. `witness_ceiling_today`: wait for the next UTC day.",
  "`commitment_mismatch`: send the exact salt and words. `witness_not_settled`, `candle_not_settled`: reconcile first. `proof_not_ready`: wait for Retry-After.",
  "`already_revealed`, `already_unsealed`, `not_sealed`: nothing is left to open.",
].join(" ")

/** The conflicts of acts that have none of the remedies above, with their messages. */
const conflictsOf = (offers: ReadonlyArray<Offer>) => {
  const refusals = offers.flatMap(({ act }) => [...act.endpoint.error].filter((error) => statusIn(error) === 409))
  const lines = refusals.flatMap((refusal) => {
    const { code, message } = formOf(refusal).properties ?? {}
    const name = String(code?.enum?.[0])
    return conflicts.includes(`\`${name}\``) ? [] : [`\`${name}\`: ${String(message?.examples?.[0])}`]
  })
  return [conflicts, ...new Set(lines)].join(" ")
}

/** The whole manual: an agent that reads nothing else can do everything. */
export const manual = (publicUrl: string, offers: ReadonlyArray<Offer>, log?: LogIdentity): string =>
  [
    "## Where to start",
    list([
      `[MCP](${publicUrl}/mcp): stateless streamable HTTP, protocols ${versions.join(" and ")}; also /api/mcp`,
      `[OpenAPI](${publicUrl}/openapi.json): every route, price and answer`,
      `[Agent manifest](${publicUrl}/.well-known/agent.json): prices and routes as JSON`,
    ]),
    "## What each act costs",
    costs(offers),
    `Stock x402 clients refuse more than $1: for a dearer act set \`spendControls: { maxAmountPerPayment: "${offers.toSorted((a, b) => Number(b.amountAtomic) - Number(a.amountAtomic))[0]?.priceUsd}" }\`.`,
    paidTo(offers),
    byCard(offers),
    spendPolicy(offers.map(({ act }) => act)).rule,
    buying(publicUrl, expectedOf(offers)),
    "## When to repeat, and when never to pay again",
    "After a lost answer repeat with the same key: it never pays twice. Only 402 `payment_failed` needs a new key and a new payment. A refusal says what was charged.",
    table(["Status", "What it means"], Object.entries({ ...Words.outcomes, 409: conflictsOf(offers) })),
    rooms(publicUrl),
    "## Limits",
    lengths,
    quotas,
    "Beyond one the answer is 429 with `Retry-After` in seconds. Rooms say what is left in `RateLimit`. Paid routes and free reads have none; ask with `If-None-Match`. A body has at most 64 KB, a room's 4 KB.",
    "## Tools over MCP",
    "`field`, `spirits` and `altar` read; `buy_kit` prepares a purchase; `verify_witness` recomputes a stone's link. No tool signs or pays.",
    "## The commitment recipe",
    `\`${recipe}\`.`,
    whiteSpace,
    table(
      ["Salt", "Words (JSON)", "Commitment"],
      Words.vectors.map(({ commitment, json, salt }) => [salt, json, commitment].map((cell) => `\`${cell}\``)),
    ),
    "## What a witness stone proves, and what it does not",
    "It proves:",
    list(Words.proves),
    "It does not prove:",
    list(Words.doesNotProve),
    log === undefined ? "" : logged(publicUrl, log),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
