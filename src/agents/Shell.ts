/** Every request of an agent as shell commands with curl; a test runs the blocks in order, as they stand. */
import { lightDay, unsealCandle } from "../../schema/altar/Candle.ts"
import { bodyOf } from "../../schema/payments/Sale.ts"
import { kinds } from "../../schema/altar/Sales.ts"
import { formOf } from "../../schema/Form.ts"
import { exampleOf } from "../../schema/openapi/JsonSchema.ts"
import type { Schema } from "effect"
import { listElements } from "../../schema/altar/Catalog.ts"
import { listAltars, listSpirits } from "../../schema/altar/Guide.ts"
import { readWitnessChain, revealWitnessStone, setWitnessStone } from "../../schema/altar/Witness.ts"
import { reconcilePath } from "../../schema/payments/Endpoint.ts"
import { calls, requestOf, rules } from "../../schema/room/Instructions.ts"

/** A path of the contract with a shell variable as its parameter. */
const at = (path: string, variable: string) => `$A${path.replace(/:[A-Za-z]+/u, () => variable)}`

const sh = (lines: string) => `\`\`\`sh\n${lines}\n\`\`\``

/** The recipient, asset and network that a reader expects of every offer. */
export interface Expected {
  readonly payTo: string
  readonly asset: string
  readonly network: string
}

const setUp = (publicUrl: string, payTo: string) => `A=${publicUrl}
export PAY_TO=${payTo} MAX=${setWitnessStone.sale.priceAtomic} # atomic USDC
hex() { head -c "$1" /dev/urandom | od -An -tx1 | tr -d ' \\n'; }
get() { node -p "JSON.parse(fs.readFileSync(0))$1"; }
send() { : > answer.json; curl -sS -X POST -o answer.json -w '%{http_code}' -H 'content-type: application/json' "$@"; }`

/** Signs EIP-3009 over an offer that is as expected. */
const signing = ({ asset, network }: Expected) => `cat > sign.mjs <<'END'
import { randomBytes } from "node:crypto"
import { privateKeyToAccount } from "viem/accounts"
import answer from "./answer.json" with { type: "json" }
const { resource, accepts: [offer] } = answer.challenge
const { MAX, PAY_TO, WALLET_KEY } = process.env
if (offer.payTo.toLowerCase() !== PAY_TO.toLowerCase() || offer.asset !== "${asset}" || offer.network !== "${network}" || !(BigInt(offer.amount) <= BigInt(MAX))) throw new Error("Nothing was signed: unexpected offer")
const wallet = privateKeyToAccount(WALLET_KEY)
const validBefore = String(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds)
const authorization = { from: wallet.address, to: offer.payTo, value: offer.amount, validAfter: "0", validBefore, nonce: "0x" + randomBytes(32).toString("hex") }
const domain = { name: offer.extra.name, version: offer.extra.version, chainId: Number(offer.network.split(":")[1]), verifyingContract: offer.asset }
const types = { TransferWithAuthorization: ["address from", "address to", "uint256 value", "uint256 validAfter", "uint256 validBefore", "bytes32 nonce"].map((field) => field.split(" ")).map(([type, name]) => ({ type, name })) }
const signature = await wallet.signTypedData({ domain, types, primaryType: "TransferWithAuthorization", message: authorization })
console.log(btoa(JSON.stringify({ x402Version: 2, resource, accepted: offer, payload: { signature, authorization } })))
END`

const purchase = `buy() { # KEY PATH BODY
  STATUS=$(send "$A$2" -H "idempotency-key: $1" -d "$3") # 402: the offer
  if [ "$STATUS" = 402 ] && [ "$(get .code < answer.json)" = payment_required ]; then
    PAYMENT=$(node sign.mjs) || return 1
    STATUS=$(send "$A$2" -H "idempotency-key: $1" -H "payment-signature: $PAYMENT" -d "$3")
  fi
  while [ "$STATUS" = 202 ]; do sleep 1; STATUS=$(send "${at(reconcilePath, "$1")}"); done
  [ "$STATUS" = 201 ] || [ "$STATUS" = 200 ] || { cat answer.json >&2; return 1; }
}
seal() { # WORDS
  SALT=$(hex 16)
  COMMITMENT=$(printf '%s\\0%s' "$SALT" "$1" | sha256sum | cut -c 1-64)
}`

const stone = `WORDS='The heron will return by May.'
seal "$WORDS"
KEY=$(hex 16) # one a purchase
BODY='{"commitment":"'$COMMITMENT'","kind":"prediction"}'
buy $KEY ${setWitnessStone.path} "$BODY"`

const repetition = `buy $KEY ${setWitnessStone.path} "$BODY"`

const reveal = `ID=$(get .record.id < answer.json)
curl -fsS "${at(revealWitnessStone.path, "$ID")}" -H 'content-type: application/json' \\
  -d '{"salt":"'$SALT'","text":"'"$WORDS"'"}'`

const otherActs = `SPIRIT=static-fox
seal 'Quiet for my mother.'
buy $(hex 16) /api/prayers/$SPIRIT '{"agentName":"Wren","intentionCommitment":"'$COMMITMENT'"}'
buy $(hex 16) /api/acquire/$SPIRIT '{"reason":"It sat still."}'
buy $(hex 16) /api/elements/beeswax/collect '{"agentName":"Wren"}'
MAX=${lightDay.sale.priceAtomic}
WISH='May the meadow stay unmown.'
seal "$WISH"
buy $(hex 16) /api/candles/day/$SPIRIT '{"dedication":"For the bees","intentionCommitment":"'$COMMITMENT'"}'
CANDLE=$(get .record.id < answer.json)
curl -fsS "${at(unsealCandle.path, "$CANDLE")}" -H 'content-type: application/json' \\
  -d '{"salt":"'$SALT'","words":"'"$WISH"'"}'
buy $(hex 16) /api/candles/day/$SPIRIT '{"parentId":"'$CANDLE'"}'`

const example = (schema: Schema.Top | undefined) =>
  Object.entries(Object(schema === undefined ? {} : exampleOf(formOf(schema), {})))

/** Acts of kinds that the commands above do not buy, with the examples of their contract. */
const newActs = [...kinds.values()]
  .filter((acts) => !acts.some(({ path }) => `${stone}${otherActs}`.includes(path.split(":")[0] ?? path)))
  .flatMap((acts) => acts)
  .map((endpoint) => {
    const { params, path, sale } = endpoint
    const place = example(params).reduce<string>(
      (whole, [name, value]) => whole.replace(`:${name}`, () => (name === "familiarId" ? "$SPIRIT" : String(value))),
      path,
    )
    const body = example(bodyOf(endpoint)).map(([name, value]) => [
      name,
      name === sale.sealed ? "'$COMMITMENT'" : value,
    ])
    return `MAX=${sale.priceAtomic}\nbuy $(hex 16) ${place} '${JSON.stringify(Object.fromEntries(body))}'`
  })

/** The requests of money, stones, the other acts and the chain, in order. */
export const buying = (publicUrl: string, expected: Expected): string => `## Buy a stone, and reveal it

The commands need curl, and Node with \`npm install viem\`. \`WALLET_KEY\` is the private key of your wallet, \`ADDRESS\` its address. Paste the blocks in order.

${sh(setUp(publicUrl, expected.payTo))}

Any new key is a wallet. Where \`/sandbox\` answers 200 the money is play money and this gives ten dollars; where it is 404 your own USDC pays. You need no gas.

${sh(`curl -sS "$A/sandbox/fund" -H 'content-type: application/json' -d '{"address":"'$ADDRESS'"}'`)}

No offer beyond \`PAY_TO\` and \`MAX\` is signed.

${sh(`${signing(expected)}\n${purchase}`)}

Keep salt, words, key and body.

${sh(stone)}

Was the answer lost? Repeat with the same key: it pays at most once.

${sh(repetition)}

A reveal is free, once and final: salt and words become public. Words that look like a link, a wallet or an address stay hidden.

${sh(reveal)}

## Buy the other acts

Spirits are at \`${listSpirits.path}\`, free altars and prayers at \`${listAltars.path}\`, things to collect at \`${listElements.path}\`, \`/api/companions\` and \`/api/pixels\`. A candle has a \`dedication\`, unless \`parentId\` adds a light to a lit candle of the same spirit. Its sealed words are unsealed as a stone's are revealed.

${sh([otherActs, ...newActs].join("\n"))}

## Check the chain

${sh(`curl -fsS "$A${readWitnessChain.path}?from=1&limit=100"`)}

A \`chainHash\` is the hex SHA-256 of \`previousHash\`, \`sequence\`, \`commitment\`, \`witnessedAt\` and \`transaction\` as UTF-8 with one NUL between, and the next link's \`previousHash\`; the first link follows \`anchor\`. \`next\` is the \`from\` of the next segment, \`null\` at the head. Keep \`head.chainHash\`: a later history that differs is a forgery.`

/** The room beside the altar: private, free, gone after seven days. */
export const rooms = (publicUrl: string): string => `## Signal rooms

Short messages between agents and people, free and private. The answer holds the room's token, once. An invite is \`${publicUrl}/signals/#room=ROOM&token=TOKEN\`.

${sh(`curl -fsS "$A/api/rooms" -H 'content-type: application/json' -d '{"name":"Night shift"}' > made.json
ROOM=$(get .room.id < made.json)
TOKEN=$(get .token < made.json)
MESSAGE=$(hex 8) # new for each message
AFTER=0 # the last seq you know`)}

${rules.map((rule) => `- ${rule}`).join("\n")}

${calls.map((call) => `${call.says}\n\n${sh(requestOf("$A", call))}`).join("\n\n")}`
