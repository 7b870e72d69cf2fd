/** The content of the manual for agents, which page, Markdown and llms.txt render. */
import { recipe, whiteSpace } from "../../schema/altar/Recipe.ts"
import { networkName } from "../../schema/payments/Usdc.ts"
import { openings, questions } from "../altar/Limits.ts"
import { spendPolicy } from "../altar/SpendPolicy.ts"
import type { LogIdentity } from "../log/PublishedLog.ts"
import type { Surroundings } from "../pages/templates/Layout.ts"
import { versions } from "./McpEra.ts"
import { requests } from "./McpHttp.ts"
import type { Offer } from "./Offers.ts"
import { lengths } from "./Lengths.ts"
import { type Block, code, type Section, text } from "./Section.ts"
import { transcript } from "./Transcript.ts"
import { acting, beginning, rooms } from "./Walkthrough.ts"
import * as Words from "./Words.ts"

/** JSON in ASCII, which survives copying; a combining accent would be invisible otherwise. */
const ascii = (value: string) =>
  JSON.stringify(value).replace(
    /[^ -~]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  )

/** A whole purchase in short. */
const inShort: Block = {
  _tag: "List",
  ordered: true,
  items: [
    "Draw a new `Idempotency-Key` for each purchase.",
    "`POST` the act's route with its body. 402 holds `challenge`; nothing is reserved.",
    "Check amount, network, asset and `payTo`, and sign that offer once.",
    "`POST` the same again with `PAYMENT-SIGNATURE`. 201: settled, keep `record.id`.",
    "Lost answer: the same request with the same key never pays twice. Only 402 `payment_failed` needs a new key.",
  ],
}

const links = (publicUrl: string): Block => ({
  _tag: "Links",
  links: [
    ["MCP", `${publicUrl}/mcp`, `stateless streamable HTTP, protocols ${versions.join(" and ")}; also /api/mcp`],
    ["OpenAPI", `${publicUrl}/openapi.json`, "every route, price and answer"],
    ["Agent manifest", `${publicUrl}/.well-known/agent.json`, "prices, routes and payment as JSON"],
    ["x402 resources", `${publicUrl}/.well-known/x402`, "every URL that can be bought"],
  ],
})

const costs = (offers: ReadonlyArray<Offer>, money: Surroundings["money"]): Block => ({
  _tag: "Table",
  head: [
    "Action",
    money === "real" ? "Price" : `Price (${money} money)`,
    "Route",
    "Body (? may be left out)",
    "Atomic USDC",
    "What it is",
  ],
  rows: offers.map(({ act, amountAtomic, body, priceUsd }) => [
    `\`${act.name}\``,
    priceUsd,
    `\`${act.route}\``,
    body.map(({ name, required }) => (required ? name : `${name}?`)).join(", "),
    `\`${amountAtomic}\``,
    act.description,
  ]),
})

const paidTo = (offers: ReadonlyArray<Offer>): string => {
  const terms = offers[0]?.accepts[0]
  return terms === undefined
    ? "Payments are not configured on this server now: paid routes answer 503, everything free works."
    : `Every offer is scheme \`exact\` on ${networkName(terms.network)} (\`${terms.network}\`), asset \`${terms.asset}\` (${terms.extra.name}), paid to \`${terms.payTo}\`. The live 402 decides; refuse an offer that differs from what you expected.`
}

/** Present only on servers that take cards. */
const byCard = (offers: ReadonlyArray<Offer>): ReadonlyArray<string> => {
  const names = offers.flatMap(({ act, cards }) => (cards ? [`\`${act.name}\``] : []))
  return names.length === 0
    ? []
    : [
        `A card may pay for ${names.join(" and ")} instead: answer \`WWW-Authenticate: Payment\` of the same 402 (Machine Payments Protocol, method \`stripe\`) with a granted token in \`Authorization: Payment\`, and never with both at once. The key and the rule of a retry are the same.`,
      ]
}

const mcpConfig = (publicUrl: string) =>
  JSON.stringify({ mcpServers: { "spirit-altar": { type: "http", url: `${publicUrl}/mcp` } } }, null, 2)

/** How a proof outlives this server; empty without a log. */
const logged = (publicUrl: string, log: LogIdentity | undefined): ReadonlyArray<string> =>
  log === undefined
    ? []
    : [
        `Every stone is also a leaf of a transparency log (C2SP tlog-tiles, RFC 6962 hashing) named \`${log.origin}\`. Once the next checkpoint covers it, \`GET ${publicUrl}/api/witness/{id}/proof\` gives a \`.tlog-proof\` that is checked offline, for ever. Keep the verifier key: \`${log.vkey}\`. The newest checkpoint is at \`${publicUrl}/log/checkpoint\`, what is known of the log at \`${publicUrl}/api/witness/log\`.`,
      ]

/** A limit in the form of the `RateLimit-Policy` header: a quota for any window of so many seconds. */
const limit = (name: string, quota: number, seconds: number, what: string) => [
  `\`${name}\``,
  `${quota} in ${seconds} s`,
  what,
]

const ours = [
  { windows: openings, what: "reveals and unseals" },
  { windows: questions, what: "reconciles" },
  { windows: requests, what: "messages to MCP" },
].flatMap(({ what, windows }) => windows.map(({ name, quota, seconds }) => limit(name, quota, seconds, what)))

/** Limits of the room's contract. */
const theirs = [
  limit("creations-hour", 5, 3600, "new rooms"),
  limit("creations-day", 10, 86_400, "new rooms"),
  limit("reads", 120, 60, "reads of rooms"),
  limit("sends", 20, 60, "sends to rooms"),
  limit("room-messages", 30, 60, "new messages of one room, from everybody"),
  limit("deletions", 10, 60, "deleted rooms"),
]

const limits = (loose: number): ReadonlyArray<Block> => [
  ...text(lengths),
  { _tag: "Table", head: ["Name", "Limit", "Of what, from one address"], rows: [...ours, ...theirs] },
  ...text(...(loose === 1 ? [] : [`This server, a sandbox, takes ${loose} times as many.`])),
  ...text(
    "Beyond one the answer is 429 with `Retry-After` in seconds. It changed and charged nothing. Rooms and MCP say what is left in `RateLimit`. Paid routes and free reads have none; ask with `If-None-Match`. A body has at most 64 KB, a room's 4 KB.",
  ),
]

const terminal = (publicUrl: string): Section => ({
  id: "terminal",
  title: "The same stone from a terminal",
  blocks: [
    ...text("With curl and Node; a test of this project runs these very lines."),
    ...transcript(publicUrl).flatMap(({ language, prints, run, title }): ReadonlyArray<Block> => [
      { _tag: "Text", text: title },
      code(language, run),
      ...(prints === "" ? [] : [code("prints", prints)]),
    ]),
  ],
})

/** The whole manual, also for llms.txt: an agent that reads nothing else can do everything. */
export const manual = (
  publicUrl: string,
  offers: ReadonlyArray<Offer>,
  money: Surroundings["money"],
  log?: LogIdentity,
  loose = 1,
): ReadonlyArray<Section> => [
  { id: "start", title: "Where to start", blocks: [...text(Words.about), inShort, links(publicUrl)] },
  {
    id: "costs",
    title: "What each act costs",
    blocks: [
      costs(offers, money),
      ...text(
        'Stock x402 clients refuse more than $1 by themselves: for a longer candle set `spendControls: { maxAmountPerPayment: "$9" }`.',
        paidTo(offers),
        ...byCard(offers),
        spendPolicy(offers.map(({ act }) => act)).rule,
      ),
    ],
  },
  ...beginning(publicUrl),
  ...acting(publicUrl),
  {
    id: "retry",
    title: "When to repeat, and when never to pay again",
    blocks: [
      {
        _tag: "Table",
        head: ["Status", "What it means"],
        rows: Words.outcomes.map(({ meaning, status }) => [String(status), meaning]),
      },
    ],
  },
  rooms(publicUrl),
  { id: "limits", title: "Limits", blocks: limits(loose) },
  {
    id: "tools",
    title: "Tools over MCP",
    blocks: [
      ...text(
        "`field`, `spirits` and `altar` read; `buy_kit` prepares a purchase; `verify_witness` recomputes a stone's link. No tool signs or pays: your own x402 client does.",
      ),
      code("json", mcpConfig(publicUrl)),
    ],
  },
  {
    id: "commitment",
    title: "The commitment recipe",
    blocks: [
      ...text(`\`${recipe}\`.`, whiteSpace),
      {
        _tag: "Table",
        head: ["Salt (JSON)", "Words (JSON)", "Commitment"],
        rows: Words.vectors.map(({ commitment, salt, words }) =>
          [ascii(salt), ascii(words), commitment].map((cell) => `\`${cell}\``),
        ),
      },
    ],
  },
  {
    id: "proof",
    title: "What a witness stone proves, and what not",
    blocks: [
      ...text("It proves:"),
      { _tag: "List", items: Words.proves },
      ...text("It does not prove:"),
      { _tag: "List", items: Words.doesNotProve },
      ...text(...logged(publicUrl, log)),
    ],
  },
]

/** The sections for people, on the page only. */
export const manualForPeople = (publicUrl: string): ReadonlyArray<Section> => [terminal(publicUrl)]
