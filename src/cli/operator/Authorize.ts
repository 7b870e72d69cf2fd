/** `receipts authorize`: a statement by the paid account that a key may sign receipts. */
import { Console, Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import { KeyStatement, SignedStatement } from "../../../schema/altar/ReceiptFile.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parseVerifierKey } from "../../../schema/log/Note.ts"
import { statementData, statementPurpose } from "../../../schema/payments/KeyStatement.ts"
import { authorizationHash, isAuthorized } from "../../buyer/receipt/Authority.ts"
import { didOf } from "../../payments/receipts/ReceiptKeys.ts"
import { fromFile } from "../buyer/Wallet.ts"
import { asked, contractAt } from "../verify/Contract.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, type FlagValues, optionalText, text } from "../Define.ts"

const flags = {
  url: text("url", "PUBLIC_URL of the server"),
  key: text("key", "The verifier key of the receipts, as `receipts key` prints it", "name+hash+base64"),
  payTo: text("pay-to", "PAY_TO of the server, whose wallet signs", "address"),
  network: Flag.withDefault(text("network", "X402_NETWORK of the server"), "eip155:8453"),
  vkey: optionalText("vkey", "The verifier key of the log that will hold the stone", "name+hash+base64"),
  notBefore: text("not-before", "Start of the key's validity, such as 2026-11-24T00:00:00.000Z", "timestamp"),
  replaces: optionalText("replaces", "Name of the previous receipt key", "name"),
  signature: optionalText("signature", "The wallet's signature of the typed data", "0x…"),
  keyFile: optionalText("key-file", "File with the private key of the wallet, instead of --signature", "file"),
  rpc: optionalText(
    "rpc",
    "JSON-RPC of the network: --signature is of a contract (EIP-1271), which is asked there",
    "url",
  ),
}

/** The domain's own type, as `eth_signTypedData_v4` wants it. */
const domain = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
]

const statementOf = ({ key, network, notBefore, payTo, replaces, url, vkey }: FlagValues<typeof flags>) => {
  const known = parseVerifierKey(key)
  if (known instanceof Malformed || !URL.canParse(url))
    return new CommandFailure({ message: "--key is no verifier key, or --url is no URL." })
  const did = didOf(url)
  return Schema.decodeEffect(KeyStatement)({
    purpose: statementPurpose,
    did,
    kid: `${did}#${known.name}`,
    jwk: { kty: "OKP", crv: "Ed25519", x: Buffer.from(known.publicKey).toString("base64url") },
    payTo: `${network}:${payTo}`,
    log: Option.getOrNull(vkey),
    notBefore,
    replaces: Option.getOrNull(Option.map(replaces, (name) => `${did}#${name}`)),
  }).pipe(Effect.mapError(({ message }) => new CommandFailure({ message: `The statement is not valid: ${message}` })))
}

export const authorized = Effect.fn("receipts.authorize")(function* (given: FlagValues<typeof flags>) {
  const statement = yield* statementOf(given)
  const data = statementData(statement)
  const signature = Option.isSome(given.keyFile)
    ? Option.some(
        yield* Effect.flatMap(fromFile(given.keyFile.value), (wallet) =>
          Effect.promise(() => wallet.signTypedData(data)),
        ),
      )
    : given.signature
  if (Option.isNone(signature)) {
    yield* Console.error(`statement   ${JSON.stringify(statement)}`)
    yield* Console.error(
      "Sign the typed data below with the wallet of --pay-to, and repeat the command with --signature.",
    )
    return yield* Console.log(JSON.stringify({ ...data, types: { EIP712Domain: domain, ...data.types } }, null, 2))
  }
  const signed = yield* Schema.decodeEffect(SignedStatement)({
    statement,
    signature: signature.value.toLowerCase(),
    type: Option.isSome(given.rpc) ? "contract" : "key",
  }).pipe(
    Effect.mapError(() => new CommandFailure({ message: "--signature is no signature: 0x and hexadecimal digits." })),
  )
  const isContractSigned = yield* contractAt(given.rpc)
  if ((yield* asked(() => isAuthorized(signed, () => isContractSigned(signed)))) !== true)
    return yield* new CommandFailure({
      message: `The signature is not of this statement by ${statement.payTo}. Repeat the flags that the typed data was made with${Option.isSome(given.rpc) ? "." : ", or name --rpc if the wallet is a contract."}`,
    })
  const commitment = yield* Effect.promise(() => authorizationHash(signed))
  yield* Console.error(`commitment  ${commitment}`)
  yield* Console.error(
    `set it      spirit-altar act setWitnessStone --url ${given.url} --kind hash --commitment ${commitment}`,
  )
  yield* Console.error(
    'Then add "stone" with the id of that stone, and list the object in the file of RECEIPT_AUTHORIZATIONS.',
  )
  yield* Console.log(JSON.stringify(signed, null, 2))
})

const line = "spirit-altar receipts authorize --url https://altar.example --key receipts-2026-11+… --pay-to 0x…"
const since = "--not-before 2026-11-24T00:00:00.000Z"

export const authorize = command("authorize", {
  description:
    "Make the statement by which the paid wallet authorizes a receipt key. Without a signature it prints typed data (EIP-712) to sign offline. With one it prints the signed statement, and the commitment to set as a stone of kind `hash`",
  summary: "Authorize a receipt key by the paid wallet",
  examples: [
    [`${line} ${since} > unsigned.json`, "Typed data for a hardware wallet"],
    [`${line} ${since} --signature 0x… > signed.json`, "Check the signature, and print the commitment"],
    [`${line} ${since} --key-file wallet.key > signed.json`, "Sign with a key at hand"],
    ["spirit-altar act setWitnessStone --kind hash --commitment …", "Set the stone, and put its id into the file"],
  ],
  flags,
  run: authorized,
})
