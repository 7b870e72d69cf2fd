/** `buy`: a buyer on the unchanged reference client, with a throw-away wallet and its salts kept on disk. */
import { createHash, randomBytes } from "node:crypto"
import { ExactEvmScheme } from "@x402/evm"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Console, Effect, FileSystem, Option, Path, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { normalize } from "../../schema/altar/Commitment.ts"
import { Trouble } from "./Trouble.ts"

const url = Flag.String("url").pipe(
  Flag.withDescription("Public URL of the altar"),
  Flag.withDefault("http://127.0.0.1:3000"),
)
const text = Flag.String("text").pipe(
  Flag.withDescription("The words to seal; they stay on this machine until revealed"),
)
const salt = Flag.String("salt").pipe(
  Flag.withDescription("16 to 256 characters; made at random when absent"),
  Flag.optional,
)
const key = Flag.String("key").pipe(
  Flag.withDescription("Idempotency key: repeat it to repeat this purchase without paying twice"),
  Flag.optional,
)
const kind = Flag.Literals("kind", ["intention", "prediction", "promise", "hash"]).pipe(
  Flag.withDescription("What the words are"),
  Flag.withDefault("intention" as const),
)
const spirit = Flag.Literals("spirit", spiritIds).pipe(
  Flag.withDescription("Whose stone it is; chosen by the commitment when absent"),
  Flag.optional,
)
const agentName = Flag.String("name").pipe(Flag.withDescription("Your public name"), Flag.optional)
const reveal = Flag.Boolean("reveal").pipe(Flag.withDescription("Reveal the words at once"), Flag.withDefault(false))

const Sandbox = Schema.Struct({ network: Schema.String, fund: Schema.String })
const Stone = Schema.Struct({
  record: Schema.Struct({
    id: Schema.String,
    sequence: Schema.Int,
    verify: Schema.Struct({ revealUrl: Schema.String }),
  }),
})

const request = (address: string, init: RequestInit = {}, send: typeof fetch = fetch) =>
  Effect.tryPromise({
    try: async () => {
      const response = await send(address, { ...init, signal: AbortSignal.timeout(120_000) })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    catch: (error) =>
      new Trouble({ message: `${address} does not answer: ${error instanceof Error ? error.message : ""}` }),
  })

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
})

const pretty = (json: string) => JSON.stringify(JSON.parse(json), null, 2)

const read = <A>(schema: Schema.Decoder<A>, json: string) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(json),
    () => new Trouble({ message: `An unexpected answer: ${json.slice(0, 400)}` }),
  )

const KeyText = Schema.TemplateLiteral(["0x", Schema.String])

/** The throw-away key of this folder, made on first use and readable by its owner only. */
const wallet = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(".data", "buyer.key")
  if (!(yield* fs.exists(file))) {
    yield* fs.makeDirectory(".data", { recursive: true })
    yield* fs.writeFileString(file, generatePrivateKey(), { mode: 0o600 })
  }
  const secret = yield* Schema.decodeUnknownEffect(KeyText)((yield* fs.readFileString(file)).trim())
  return privateKeyToAccount(secret)
})

const expect = (answer: { readonly status: number; readonly text: string }, ...statuses: ReadonlyArray<number>) =>
  statuses.includes(answer.status)
    ? Effect.succeed(answer.text)
    : Effect.fail(new Trouble({ message: `The altar answered ${answer.status}: ${answer.text.slice(0, 600)}` }))

const witness = Command.make("witness", { url, text, salt, key, kind, spirit, agentName, reveal }, (flags) =>
  Effect.gen(function* () {
    const base = flags.url.replace(/\/+$/u, "")
    const account = yield* wallet
    const { fund, network } = yield* request(`${base}/sandbox`).pipe(
      Effect.flatMap((answer) => expect(answer, 200)),
      Effect.flatMap((json) => read(Sandbox, json)),
      Effect.mapError(() => new Trouble({ message: `${base} is not a running sandbox: start it with npm start.` })),
    )
    yield* Effect.flatMap(request(fund, post({ address: account.address })), (answer) => expect(answer, 200))
    yield* Console.log(`wallet      ${account.address} (throw-away, play money on ${network})`)

    const secret = Option.getOrElse(flags.salt, () => randomBytes(16).toString("hex"))
    const commitment = createHash("sha256")
      .update(`${secret}\0${normalize(flags.text)}`)
      .digest("hex")
    const idempotencyKey = Option.getOrElse(flags.key, () => `buy-${randomBytes(12).toString("hex")}`)
    yield* Console.log(`salt        ${secret}\ncommitment  ${commitment}\nkey         ${idempotencyKey}`)

    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "eip155:*", client: new ExactEvmScheme(account) }],
    })
    const body = {
      commitment,
      kind: flags.kind,
      ...(Option.isSome(flags.spirit) ? { spirit: flags.spirit.value } : {}),
      ...(Option.isSome(flags.agentName) ? { agentName: flags.agentName.value } : {}),
    }
    let answer = yield* request(`${base}/api/witness`, post(body, { "idempotency-key": idempotencyKey }), pay)
    while (answer.status === 202) {
      yield* Console.log("pending     the outcome is not known yet; asking again, not paying again")
      yield* Effect.sleep("2 seconds")
      answer = yield* request(`${base}/api/reconcile/${idempotencyKey}`, { method: "POST" })
    }
    const settled = yield* expect(answer, 200, 201)
    yield* Console.log(answer.status === 201 ? "paid        $0.01, once" : "replayed    nothing was charged again")
    yield* Console.log(pretty(settled))
    const paid = answer.headers.get("PAYMENT-RESPONSE")
    if (paid !== null) yield* Console.log(`settlement  ${JSON.stringify(decodePaymentResponseHeader(paid))}`)

    const { record } = yield* read(Stone, settled)
    if (!flags.reveal) {
      yield* Console.log(
        `\nTo reveal it later, free and once:\n  curl -X POST ${record.verify.revealUrl} -H 'content-type: application/json' \\\n    -d '${JSON.stringify({ salt: secret, text: flags.text })}'`,
      )
      return
    }
    const revealed = yield* request(record.verify.revealUrl, post({ salt: secret, text: flags.text }))
    yield* Console.log(`revealed\n${pretty(yield* expect(revealed, 200, 201))}`)
  }),
).pipe(
  Command.withDescription("Seal words, pay one cent, and set a witness stone"),
  Command.withExamples([
    { command: 'npm run buy -- witness --text "The heron will return by May."', description: "Set a stone" },
    {
      command: 'npm run buy -- witness --text "I will call my sister." --kind promise --spirit moss-hare --reveal',
      description: "Set a promise on an altar and reveal it",
    },
  ]),
)

export const buy = Command.make("buy").pipe(
  Command.withDescription("Buy as an agent would, with the reference x402 client and play money"),
  Command.withSubcommands([witness]),
)
