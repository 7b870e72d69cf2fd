/** Chooses the paying key: a named one, or in a sandbox a throw-away one. No key is printed or loaded needlessly. */
import { Config, Console, Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { base } from "../../../schema/payments/Usdc.ts"
import { buyer } from "../../server/config/Table.ts"
import { fund, type Sandbox } from "./Faucet.ts"
import { CommandFailure } from "../CommandFailure.ts"

const PrivateKey = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))

export const accountOf = (secret: Redacted.Redacted<string>, from: string) =>
  Schema.decodeUnknownEffect(PrivateKey)(Redacted.value(secret).trim()).pipe(
    Effect.flatMap((key) => Effect.try(() => privateKeyToAccount(key))),
    Effect.mapError(
      () =>
        new CommandFailure({
          message: `${from} holds no private key: 0x and 64 hexadecimal digits. This command charged nothing.`,
        }),
    ),
  )

export const fromFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const secret = yield* Effect.mapError(
    fs.readFileString(file),
    () => new CommandFailure({ message: `${file} cannot be read. This command charged nothing.` }),
  )
  const account = yield* accountOf(Redacted.make(secret), file)
  const { mode } = yield* Effect.orDie(fs.stat(file))
  if ((mode & 0o077) !== 0) yield* Console.error(`warning     others can read ${file}: chmod 600 ${file}`)
  return account
})

/** Created on first use, readable by its owner only, and worthless outside sandboxes. */
const throwAway = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "sandbox.key")
  if (!(yield* fs.exists(file))) {
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    yield* fs.writeFileString(file, generatePrivateKey(), { mode: 0o600 })
  }
  return yield* fromFile(file)
})

const variable = Config.option(Config.Redacted(buyer.privateKey.name))

/** A sandbox ignores the variable, so that a key with real money is never used there. */
export const walletOf = Effect.fn("Wallet.walletOf")(function* (
  wallet: Option.Option<string>,
  altar: string,
  sandbox: Option.Option<Sandbox>,
  folder: string,
) {
  const given = yield* Effect.orElseSucceed(variable, Option.none<Redacted.Redacted<string>>)
  if (Option.isSome(sandbox)) {
    const { network } = sandbox.value
    if (Option.isSome(wallet) && network === base)
      return yield* new CommandFailure({
        message:
          "This sandbox rehearses Base's own network id, so only its throw-away wallet may pay: leave --wallet out.",
      })
    const account = Option.isSome(wallet)
      ? yield* fromFile(wallet.value)
      : yield* Effect.catchTag(
          throwAway(folder),
          "PlatformError",
          (error) => new CommandFailure({ message: error.message }),
        )
    yield* fund(altar, account.address)
    yield* Console.error(`wallet      ${account.address} (throw-away, play money on ${network})`)
    return account
  }
  const account = Option.isSome(wallet)
    ? yield* fromFile(wallet.value)
    : Option.isSome(given)
      ? yield* accountOf(given.value, buyer.privateKey.name)
      : yield* new CommandFailure({
          message: `No wallet: set ${buyer.privateKey.name}, or name a file with --wallet. This command charged nothing.`,
        })
  yield* Console.error(`wallet      ${account.address}`)
  return account
})
