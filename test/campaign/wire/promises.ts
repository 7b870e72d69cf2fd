/** The promises of the documents about answers, and how each is broken. */
import {
  header,
  encoded,
  member,
  only,
  replaced,
  reversed,
  says,
  shortened,
  status,
  type WireMutant,
} from "./Falsify.ts"

const hidden = { text: "Call my sister.", salt: "0f4e2d8c6b1a49d7", hidden: false }

/** By the test files that hold them. */
const byTests: Readonly<Record<string, Readonly<Record<string, readonly [of: RegExp, change: WireMutant["change"]]>>>> =
  {
    "altar/acts": {
      "a settled purchase is 201": [/^POST \/api\/witness$/u, status(201, 200)],
      "a receipt links its transaction": [/^POST \/api\/prayers/u, says("receipt.explorerUrl", "https://a.example/")],
      "a replay is 200": [/^POST \/api\/acquire/u, status(200, 201)],
      "a replay says that it is one": [/^POST \/api\//u, only(200, says("replayed", false))],
      "a replay carries Idempotent-Replayed": [/^POST \/api\/(?!reconcile)/u, header("idempotent-replayed")],
      "a replay carries the first PAYMENT-RESPONSE": [/^POST \/api\/reconcile/u, header("payment-response")],
      "a 402 carries PAYMENT-REQUIRED": [/^POST \/api\/elements/u, header("payment-required")],
      "a refusal of a purchase is not stored": [/^POST \/api\/candles/u, header("cache-control", "public, max-age=5")],
      "a week of candle light costs three dollars": [
        /^POST \/api\/candles\/week/u,
        encoded("payment-required", "accepts.*.amount", () => "3000001"),
      ],
      "a prayer of another day is 409": [/day=2020-01-01/u, status(409, 422)],
      "a second keeper is told that the spirit is kept": [/^POST \/api\/acquire/u, only(409, says("code", "sold_out"))],
      "a held dedication is 422": [/^POST \/api\/candles/u, status(422, 400)],
      "a light needs a lit candle": [/^POST \/api\/candles/u, only(409, says("code", "candle_not_found"))],
      "words are unsealed once": [/\/unseal$/u, status(409, 200)],
      "a repeated unseal is 200": [/\/unseal$/u, status(200, 201)],
      "candles are filtered by their spirit": [/^GET \/api\/candles\?spirit=/u, says("candles", [])],
      "the wall of candles names the ways to pay": [/^GET \/api\/candles/u, says("rails", ["x402", "card"])],
      "the wall of candles has three durations": [/^GET \/api\/candles/u, shortened("rungs")],
      "a week of candle light lasts seven days": [
        /^POST \/api\/candles\/week/u,
        member("record.litUntil", (at: string) => new Date(Date.parse(at) - 1000).toISOString()),
      ],
      "the payer keeps what it bought": [/^POST \/api\/acquire/u, says("record.keeper", `0x${"1".repeat(40)}`)],
      "PAYMENT-RESPONSE names the transaction": [
        /^POST \/api\/witness/u,
        encoded("payment-response", "transaction", () => `0x${"1".repeat(64)}`),
      ],
      "a prayer is answered with a line of its spirit": [/^POST \/api\/prayers/u, only(201, says("line", "Rest."))],
    },
    "altar/reads": {
      "the newest candle comes first": [/^GET \/api\/candles/u, reversed("candles")],
      "the wall counts the lit candles of all pages": [/^GET \/api\/candles.*&limit=1$/u, says("lit", 1)],
      "the newest act comes first": [/^GET \/api\/acts\?limit=3/u, reversed("acts")],
      "the field counts cents": [
        /^GET \/api\/field/u,
        member("centsSettled", (cents: number) => (cents === 0 ? 0 : cents + 1)),
      ],
      "the field names its last settlement": [/^GET \/api\/field/u, says("lastSettlement", null)],
      "a candle lists its ten newest lights": [/^GET \/api\/candles/u, shortened("candles.*.lights")],
      "24 spirits are listed in their order": [/^GET \/api\/spirits/u, reversed("spirits")],
      "a taken prayer slot is shown": [/^GET \/api\/altars/u, says("altars.*.today.state", "free")],
      "a keeper is shown": [/^GET \/api\/spirits/u, says("spirits.*.keeper", null)],
      "768 pixels are published": [/^GET \/api\/pixels/u, says("totalEditionSize", 769)],
      "an item's editions add up": [/^GET \/api\/elements/u, says("elements.*.issued", 1)],
      "an item's held editions are counted": [/^GET \/api\/elements/u, says("elements.*.reserved", 0)],
      "a manifest names the hash of its file": [
        /^GET \/api\/companions/u,
        says("companions.*.publicationManifest.artwork.sha256", "0".repeat(64)),
      ],
      "a catalog says that it sells": [/^GET \/api\/elements/u, says("payment.state", "not_configured")],
      "there are 128 editions of a pixel": [/^GET \/api\/pixels/u, says("pixels.*.editionSize", 129)],
      "a collectible is not transferable": [/^GET \/api\/pixels/u, says("terms.transferable", true)],
      "a collectible has no token on a chain": [/^GET \/api\/pixels/u, says("terms.onchainToken", true)],
      "the spend policy allows one cent": [
        /^GET \/api\/pixels/u,
        says("payment.buyerSpendPolicy.perPaymentMaximumUsd", "$1.00"),
      ],
      "a server without a key has no log": [/^GET \/(?:api\/witness|log)\//u, status(404, 200)],
      "a 405 names the allowed methods": [/^(?:DELETE|PUT|PATCH) /u, header("allow")],
    },
    "altar/midnight": {
      "burnt lights are not counted": [/^GET \/api\/candles/u, says("candles.*.lightCount", 1)],
    },
    "altar/feed": {
      "the feed is as new as its newest act": [
        /^GET \/acts\.atom/u,
        replaced(/<updated>[^<]+(?=<\/updated\s*><link rel="self")/gu, "<updated>2025-01-01T00:00:00.000Z"),
      ],
    },
    "altar/all-acts": {
      "a list has twenty entries unless more are requested": [/^GET \/api\/witness$/u, shortened("stones")],
      "a segment has fifty entries unless more are requested": [/^GET \/api\/publish-chain$/u, shortened("entries")],
      "a catalog lists its newest editions": [/^GET \/api\/elements/u, reversed("recent")],
    },
    "altar/shown-texts": {
      "a stranger's words are no markup": [/^GET \/(?:v2|acts|witness)\//u, replaced("&lt;b onclick", "<b onclick")],
      "a hidden name is in no list": [/^GET \/api\/spirits/u, replaced("hidden by the operator", "Keepername")],
    },
    "altar/witness": {
      "the newest stone comes first": [/^GET \/api\/witness\?/u, reversed("stones")],
      "a stone without a kind is an intention": [/^POST \/api\/witness$/u, says("record.kind", "promise")],
      "the chain begins with its genesis": [/^GET \/api\/witness\/chain$/u, says("anchor.chainHash", "1".repeat(64))],
      "a segment of the chain names its anchor": [/^GET \/api\/witness\/chain/u, says("anchor", null)],
      "a segment of the chain leads to the next": [/^GET \/api\/witness\/chain/u, says("next", null)],
      "a list is as long as its limit": [/^GET \/api\/witness\?limit/u, shortened("stones")],
      "other words than the sealed ones are a mismatch": [/\/reveal$/u, only(409, says("code", "already_revealed"))],
      "a repeated reveal is 200": [/\/reveal$/u, status(200, 201)],
      "a reveal of an unknown stone is 404": [/\/reveal$/u, status(404, 409)],
    },
    "altar/reveals": {
      "hidden words are not shown": [
        /^GET \/api\/(?:acts|witness)\/[0-9a-f-]{36}$/u,
        member("act.reveal", (reveal: object | null) => (reveal === null ? null : { ...reveal, ...hidden })),
      ],
      "a revealed salt is shown": [/^GET \/api\/witness\//u, says("stone.reveal.salt", null)],
    },
    "payments/conflicts": {
      "a key is bound to one request": [/^POST \/api\/witness/u, status(409, 402)],
      "the zero commitment is refused before payment": [/^POST \/api\/witness/u, status(422, 402)],
      "a malformed key is named": [/^POST \/api\//u, only(400, says("code", "bad_request"))],
      "PAYMENT-REQUIRED is at most 1,536 bytes": [
        /^POST \/api\//u,
        encoded("payment-required", "padding", () => "x".repeat(1_200)),
      ],
      "the catalogue's extension is sent only where a catalogue reads it": [
        /^POST \/api\//u,
        encoded("payment-required", "extensions.bazaar", () => undefined),
      ],
    },
    "payments/used-authorizations": {
      "a bound authorization is 409": [/^POST \/api\//u, status(409, 402)],
    },
    "payments/bound-payments": {
      "a broken binding is not verified": [/^POST \/mcp/u, replaced(/(verified\\*"):false/gu, "$1:true")],
    },
    "payments/receipt-files": {
      "a hidden text has no receipt file": [/\.receipt\.json$/u, status(404, 200)],
    },
    "payments/refunds": {
      "a refund is shown at once": [/^GET \/witness\//u, replaced('evidence" open', 'evidence"')],
    },
    "payments/failed-attempts": {
      "a claim in flight says until when it is held": [
        /^POST \/api\//u,
        only(409, says("heldUntil", "2030-01-01T00:00:00.000Z")),
      ],
      "a prayer slot is held by a payment in flight": [/^GET \/api\/altars/u, says("altars.*.today.state", "free")],
      "a failed key says that it failed": [/^POST \/api\//u, only(402, says("code", "payment_required"))],
    },
    "payments/payment-refusals": {
      "a limited payer is told the wait": [/^POST \/api\/witness/u, only(429, header("retry-after", "61"))],
    },
    "payments/faults": {
      "a pending purchase names the time after which it cannot be paid": [
        /^POST \/api\//u,
        only(202, says("attempt.validBefore", "2030-01-01T00:00:00.000Z")),
      ],
      "a pending purchase says when to ask again": [/^POST \/api\//u, only(202, header("retry-after", "0"))],
      "a pending purchase names its network": [/^POST \/api\//u, only(202, says("attempt.network", "eip155:1"))],
      "a pending purchase names its URL": [/^POST \/api\//u, only(202, header("location"))],
      "a pending purchase says that it must not be paid again": [
        /^POST \/api\//u,
        only(202, replaced("Do not pay again", "Pay again")),
      ],
    },
    "payments/finality": {
      "a payment is pending until its block is final": [
        /^GET \/api\//u,
        replaced('"finality":"pending"', '"finality":"final"'),
      ],
    },
    "limits/routes": {
      "a rate limit is 429": [/./u, status(429, 503)],
      "a rate limit tells the wait": [/./u, only(429, header("retry-after"))],
    },
    "log/end-to-end": {
      "a proof waits for a checkpoint": [/\/proof$/u, status(409, 404)],
      "a proof is asked for again after a second": [/\/proof$/u, only(409, header("retry-after", "2"))],
      "a proof is kept for ever only after its quorum": [
        /\/proof$/u,
        only(200, header("cache-control", "public, max-age=31536000, immutable")),
      ],
      "a proof is one of the published log": [/\/proof$/u, only(200, replaced(/index \d+/gu, "index 9"))],
      "the key of the log is published": [/^GET \/api\/witness\/log/u, says("origin", "elsewhere.example/log")],
    },
    "room/room": {
      "a poll is not stored": [/^GET \/api\/rooms\//u, only(200, header("cache-control", "private, max-age=3"))],
      "a message does not prolong its room": [
        /^GET \/api\/rooms\//u,
        member("room.expiresAt", (at: string) => new Date(Date.parse(at) + 1).toISOString()),
      ],
      "a poll tells the server's time": [/^GET \/api\/rooms\//u, says("serverTime", "2020-01-01T00:00:00.000Z")],
      "a cursor brings what came after it": [/\?after=1$/u, says("messages", [])],
      "the limits of a room name their windows": [
        /\/messages$/u,
        header("ratelimit-policy", '"sends";q=20;w=60, "room-messages";q=30;w=3600'),
      ],
      "a replay counts nothing in its room": [
        /\/messages$/u,
        only(200, header("ratelimit", '"sends";r=18;t=60, "room-messages";r=28;t=60')),
      ],
      "a deleted room is gone for everyone": [/^GET \/api\/rooms\//u, status(404, 200)],
      "a room is created with 201": [/^POST \/api\/rooms$/u, status(201, 200)],
      "a room lives exactly seven days": [
        /^POST \/api\/rooms$/u,
        member("room.expiresAt", (at: string) => new Date(Date.parse(at) + 1).toISOString()),
      ],
      "a room's answer is not stored": [/^POST \/api\/rooms$/u, header("cache-control", "no-cache")],
      "a poll lists the oldest message first": [/^GET \/api\/rooms/u, reversed("messages")],
      "a repeated clientId says that it is one": [/\/messages$/u, only(200, says("duplicate", false))],
      "another message under a clientId is 409": [/\/messages$/u, status(409, 400)],
      "an ended room is 410": [/^GET \/api\/rooms\//u, status(410, 404)],
      "another token never learns that a room ended": [/^GET \/api\/rooms\//u, status(401, 410)],
    },
    "room/room-refusals": {
      "a room's refusal is not stored": [/^GET \/api\/rooms\//u, only(404, header("cache-control", "private"))],
      "a token in a URL is refused": [/\?token=/u, status(400, 200)],
      "an unknown room is 404": [/^GET \/api\/rooms\//u, status(404, 401)],
      "health names the modes": [/^GET \/api\/health$/u, reversed("modes")],
      "a foreign page cannot use a room": [/^\w+ \/api\/rooms/u, status(403, 200)],
      "a room is open to no other origin": [/^\w+ \/api\/rooms/u, header("access-control-allow-origin", "*")],
      "a room's 405 names the methods": [/^\w+ \/api\/rooms/u, header("allow")],
      "a body beyond 4096 bytes is 413": [/^POST \/api\/rooms/u, status(413, 400)],
      "a missing token is 401": [/^\w+ \/api\/rooms\//u, status(401, 404)],
    },
    "room/ceiling": {
      "a full server tells the wait for a room": [/^POST \/api\/rooms$/u, only(503, header("retry-after"))],
    },
    "agents/buy-kit": {
      "a kit names the headers of its request": [/^POST \/mcp/u, replaced('"Idempotency-Key":', '"Key":')],
      "a kit says how to repeat a purchase": [/^POST \/mcp/u, replaced("never sign again", "sign again")],
    },
    "agents/mcp": {
      "structured content comes with text": [/^POST \/(?:api\/)?mcp/u, says("result.content", [])],
      "a tool's refusal is a result": [/^POST \/mcp/u, replaced('"isError":true', '"isError":false')],
      "verify_witness says what it does not prove": [/^POST \/(?:api\/)?mcp/u, replaced("authorship", "weather")],
    },
    "journeys/mcp-host": {
      "a tool names what it ignored": [/^POST \/mcp/u, replaced('"ignored":[', '"others":[')],
    },
    "agents/transport": {
      "a version of nowhere is refused": [/^POST \/mcp$/u, status(400, 200)],
      "a foreign page cannot call the tools of this machine": [/^POST \/(?:api\/)?mcp/u, status(403, 200)],
      "GET of the tools is 405": [/^GET \/(?:api\/)?mcp/u, status(405, 404)],
      "a notification has no answer": [/^POST \/(?:api\/)?mcp/u, status(202, 200)],
    },
    "agents/discovery": {
      "no paid route offers what is not configured": [/^POST \/api\//u, only(503, says("code", "selling_paused"))],
      "every act is in the list for x402 clients": [/^GET \/\.well-known\/x402/u, shortened("resources")],
      "the manifest names the recipient": [/^GET \/\.well-known\/agent/u, says("payment.payTo", `0x${"1".repeat(40)}`)],
      "a document for agents is 304 while it is unchanged": [/^GET \/\.well-known/u, status(304, 200)],
      "payments without settings are not configured": [/./u, replaced('"not_configured"', '"ready"')],
    },
    "contract/cross-origin": {
      "a preflight allows any header": [/^OPTIONS \/api\//u, header("access-control-allow-headers", "content-type")],
    },
    "contract/reference": {
      "the document names its own server": [/^GET \/openapi/u, says("servers.*.url", "https://elsewhere.example")],
      "a refusal links its explanation": [/^GET \/api\/witness\//u, only(404, says("docs", "/docs/errors"))],
      "every code is explained": [/^GET \/docs\/errors$/u, replaced('id="CONFLICT"', 'id="quarrel"')],
    },
    "altar/permalinks": {
      "a permalink that nothing has is 404": [/^GET \/(?:acts|witness)\//u, status(404, 200)],
      "the newest stone has no next one": [
        /^GET \/witness\//u,
        replaced("<span>The newest", '<span rel="next">The newest'),
      ],
      "a permalink has no other form": [/^GET \/(?:acts|witness)\//u, status(406, 200)],
    },
    "contract/security-headers": {
      "every answer outside the room exposes one list": [
        /^(?!OPTIONS)/u,
        header("access-control-expose-headers", "ETag"),
      ],
      "no page may be framed": [/^GET \/v2\//u, header("content-security-policy", "default-src 'self'")],
      "an https server says so": [/./u, header("strict-transport-security")],
    },
    "sandbox/routes": {
      "the sandbox has the test network's id": [/^GET \/sandbox$/u, says("chainId", 8453)],
      "the sandbox says where its money comes from": [/^GET \/sandbox$/u, says("fund", "https://example.com/fund")],
      "the sandbox gives ten dollars": [/^POST \/sandbox\/fund/u, says("balanceAtomic", "1000000")],
      "the sandbox knows no other chain's transaction": [/^GET \/sandbox\/transactions\//u, status(404, 200)],
      "no other server has the sandbox's routes": [/^GET \/sandbox$/u, status(404, 200)],
    },
  }

export const mutants: ReadonlyArray<WireMutant> = Object.entries(byTests).flatMap(([files, promises]) =>
  Object.entries(promises).map(([promise, [of, change]]) => ({ promise, of, change, tests: files.split(",") })),
)
