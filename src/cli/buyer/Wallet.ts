/** Chooses the paying key: a named one, or in a sandbox a throw-away one. No key is printed or loaded needlessly. */
import { dirname, join } from "node:path"
import { Config, Console, Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { base, usdcNetworks } from "../../../schema/payments/Usdc.ts"
import { reasonOf } from "../../buyer/PurchaseError.ts"
import { processesHere } from "../../sandbox/DataFolder.ts"
import { buyer } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { whichAltar } from "../Flags.ts"

const fail = (message: string) => Effect.fail(new CommandFailure({ message }))

/** A sandbox pays with play money on one of these networks; any other network means real money. */
const Sandbox = Schema.Struct({ network: Schema.Literals(usdcNetworks), payTo: Schema.String })
export type Sandbox = typeof Sandbox.Type

const decodeSandbox = Schema.decodeEffect(Schema.fromJsonString(Sandbox))

/** Asks for a path of the altar, and follows no redirect. */
const request = (altar: string, path: string, init: RequestInit = {}) =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`${altar}${path}`, { ...init, redirect: "error", signal })
    return { status: response.status, text: await response.text() }
  }).pipe(
    Effect.timeout("1 minute"),
    Effect.catch((error) =>
      fail(`${altar}${path} does not answer: ${reasonOf(error)}. ${whichAltar} This command charged nothing.`),
    ),
  )

/** None when the altar says that it is no sandbox; fails for any other answer, so that no key is used. */
export const sandboxOf = Effect.fn("sandboxOf")(function* (altar: string) {
  const { status, text } = yield* request(altar, "/sandbox")
  const undecided = (why: string) => fail(`${altar} ${why}. Nothing was signed, so nothing was charged.`)
  if (status === 503) return yield* undecided("is still starting, or its parts do not answer: try again later")
  if (status === 429 || status >= 500)
    return yield* undecided(`answers ${status} to the question whether it is a sandbox: try again later`)
  if (status === 200)
    return yield* Effect.asSome(
      Effect.catch(decodeSandbox(text), () =>
        fail(`${altar} gives an unknown answer at /sandbox. ${whichAltar} This command charged nothing.`),
      ),
    )
  return Option.exists(yield* processesHere, ({ url }) => url === altar)
    ? yield* undecided("is the address of this folder's sandbox, but another program answers there")
    : Option.none()
})

/** Requests ten dollars of play money from the altar. */
const fund = Effect.fnUntraced(function* (altar: string, address: string) {
  const headers = { "content-type": "application/json" }
  const init = { method: "POST", headers, body: JSON.stringify({ address }) }
  const { status } = yield* request(altar, "/sandbox/fund", init)
  if (status !== 200) return yield* fail(`${altar}/sandbox/fund gave no play money: ${status}.`)
})

const PrivateKey = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))

export const accountOf = (secret: Redacted.Redacted<string>, from: string) =>
  Schema.decodeUnknownEffect(PrivateKey)(Redacted.value(secret).trim()).pipe(
    Effect.flatMap((key) => Effect.try(() => privateKeyToAccount(key))),
    Effect.catch(() =>
      fail(`${from} holds no private key: 0x and 64 hexadecimal digits. This command charged nothing.`),
    ),
  )

const fromFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const secret = yield* Effect.catch(fs.readFileString(file), () =>
    fail(`${file} cannot be read. This command charged nothing.`),
  )
  const account = yield* accountOf(Redacted.make(secret), file)
  const { mode } = yield* Effect.orDie(fs.stat(file))
  if ((mode & 0o077) !== 0) yield* Console.error(`warning     others can read ${file}: chmod 600 ${file}`)
  return account
})

/** The file of a key that is created on first use, readable by its owner only, and worthless outside sandboxes. */
const throwAway = Effect.fnUntraced(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    const file = join(folder, "sandbox.key")
    if (!(yield* fs.exists(file))) {
      // Only the wallet's own folder is closed: a sandbox's database beside it may run as another user.
      yield* fs.makeDirectory(dirname(folder), { recursive: true })
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      yield* fs.writeFileString(file, generatePrivateKey(), { mode: 0o600 })
    }
    return file
  },
  Effect.catch(({ message }) => fail(message)),
)

const variable = Config.option(Config.Redacted(buyer.privateKey.name))

/** A sandbox ignores the variable, so that a key with real money is never used there. */
export const walletOf = Effect.fn("Wallet.walletOf")(function* (
  wallet: Option.Option<string>,
  altar: string,
  sandbox: Option.Option<Sandbox>,
  folder: string,
) {
  if (Option.isSome(sandbox)) {
    const { network } = sandbox.value
    if (Option.isSome(wallet) && network === base)
      return yield* fail(
        "This sandbox rehearses Base's own network id, so only its throw-away wallet may pay: leave --wallet out.",
      )
    const account = yield* fromFile(Option.isSome(wallet) ? wallet.value : yield* throwAway(folder))
    yield* fund(altar, account.address)
    yield* Console.error(`wallet      ${account.address} (throw-away, play money on ${network})`)
    return account
  }
  const given = yield* Effect.orElseSucceed(variable, Option.none<Redacted.Redacted<string>>)
  const account = Option.isSome(wallet)
    ? yield* fromFile(wallet.value)
    : Option.isSome(given)
      ? yield* accountOf(given.value, buyer.privateKey.name)
      : yield* fail(
          `No wallet: set ${buyer.privateKey.name}, or name a file with --wallet. This command charged nothing.`,
        )
  yield* Console.error(`wallet      ${account.address}`)
  return account
})
