/** The signature of a refund: by a key at hand, or by another wallet from a file. */
import { Config, Console, Duration, Effect, FileSystem, Layer, Option, Schema } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { AddressText, HexText, Word } from "../../payments/Hex.ts"
import { type NewRefund, RefundRefused, type Returnable } from "../../payments/ledger/Refunds.ts"
import { Refunding } from "../../payments/refunds/Refunding.ts"
import { typedData, typedDataText } from "../../payments/refunds/RefundTransfer.ts"
import { Chain } from "../../payments/x402/node/Chain.ts"
import { Signatures } from "../../payments/x402/verification/Signatures.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { payments as configuredPayments } from "../../server/config/Config.ts"
import { refunds as variables } from "../../server/config/Table.ts"
import { accountOf, fromFile } from "../buyer/Wallet.ts"
import { CommandFailure } from "../CommandFailure.ts"

interface Asked {
  readonly amount: Option.Option<bigint>
  readonly keyFile: Option.Option<string>
  readonly unsigned: Option.Option<string>
  readonly signed: Option.Option<string>
  readonly signature: Option.Option<string>
}

/** How long a transfer may be sent: by a key at hand, and by wallets that people carry around. */
const lifetime = Duration.days(1)
const unsignedLifetime = Duration.days(7)

const trouble = (message: string) => new CommandFailure({ message: `${message} Nothing was recorded.` })

const SignedFile = Schema.fromJsonString(
  Schema.Struct({
    message: Schema.Struct({
      from: AddressText,
      to: AddressText,
      value: Schema.BigIntFromString,
      validAfter: Schema.BigIntFromString,
      validBefore: Schema.BigIntFromString,
      nonce: Word,
    }),
  }),
)

const accountIn = Effect.fnUntraced(function* (keyFile: Option.Option<string>) {
  if (Option.isSome(keyFile)) return yield* fromFile(keyFile.value)
  const given = yield* Config.option(Config.Redacted(variables.key.name))
  if (Option.isNone(given))
    return yield* trouble(`No key of the wallet that was paid: name a --key-file, or write --unsigned typed data.`)
  return yield* accountOf(given.value, variables.key.name)
})

/** Returns what makes a signed refund of a payment; none where it only wrote the transfer to a file. */
export const signing = Effect.fnUntraced(function* (asked: Asked, isOne: boolean) {
  const payments = yield* configuredPayments
  if ("length" in payments)
    return yield* trouble(`A refund needs the server's settings of payments: set ${payments.join(", ")}.`)
  const { finalTag, rpcUrl, terms } = payments
  const isFile = Option.isSome(asked.unsigned) || Option.isSome(asked.signed)
  if (isFile && !isOne) return yield* trouble("A file holds one transfer: name its payment.")
  if (Option.isSome(asked.signed) !== Option.isSome(asked.signature))
    return yield* trouble("--signed and --signature belong together.")
  if (isFile && Option.isSome(asked.keyFile)) return yield* trouble("A file is signed elsewhere: leave --key-file out.")
  if (Option.isSome(asked.signed) && Option.isSome(asked.amount))
    return yield* trouble("The file of --signed names the amount: leave --amount out.")
  const account: PrivateKeyAccount | undefined = isFile ? undefined : yield* accountIn(asked.keyFile)
  const services = Refunding.layer({ terms }).pipe(
    Layer.provide(Layer.mergeAll(Signatures.layer, DatabaseClock.layer)),
    Layer.provide(Chain.layer({ rpcUrl, finalTag, timeout: Duration.seconds(10) })),
  )

  const byKey = Effect.fnUntraced(function* (returned: Returnable, key: PrivateKeyAccount) {
    const judge = yield* Refunding
    const prepared = yield* judge.prepare(returned, asked.amount, lifetime)
    const { from } = prepared.transfer
    if (key.address.toLowerCase() !== from.toLowerCase())
      return yield* new RefundRefused({
        message: `This is the key of ${key.address}, and the payment was made to ${from}. Only the wallet that was paid can refund: its nonces are what prevents a second transfer. Nothing was recorded.`,
      })
    const signature = yield* Effect.promise(() => key.signTypedData(typedData(terms, prepared.transfer)))
    return yield* judge.signed(prepared, signature)
  })

  const byFile = Effect.fnUntraced(function* (returned: Returnable, file: string, signature: string) {
    const judge = yield* Refunding
    const fs = yield* FileSystem.FileSystem
    const { message } = yield* fs.readFileString(file).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(SignedFile)),
      Effect.mapError(() => trouble(`${file} holds no transfer that --unsigned wrote.`)),
    )
    const hex = yield* Effect.mapError(Schema.decodeUnknownEffect(HexText)(signature), () =>
      trouble("The signature is not hexadecimal."),
    )
    const prepared = yield* judge.prepare(returned, Option.some(message.value), unsignedLifetime)
    const { from, nonce, to, validBefore } = prepared.transfer
    const isOurs =
      [from, to, nonce].join().toLowerCase() === [message.from, message.to, message.nonce].join().toLowerCase()
    if (!isOurs || message.validAfter !== 0n || message.validBefore > validBefore)
      return yield* trouble(`${file} holds the transfer of another payment.`)
    if (message.validBefore < validBefore - BigInt(Duration.toSeconds(unsignedLifetime)) + 60n)
      return yield* trouble(`The transfer in ${file} has expired. Write and sign a new one.`)
    return yield* judge.signed({ ...prepared, transfer: message }, hex)
  })

  const toFile = Effect.fnUntraced(function* (returned: Returnable, file: string) {
    const judge = yield* Refunding
    const fs = yield* FileSystem.FileSystem
    const { transfer } = yield* judge.prepare(returned, asked.amount, unsignedLifetime)
    yield* Effect.mapError(fs.writeFileString(file, `${typedDataText(terms, transfer)}\n`, { flag: "wx" }), () =>
      trouble(`${file} cannot be written, or exists.`),
    )
    yield* Console.error(
      `${file} is to be signed by ${transfer.from} within seven days. Then name it with --signed, and its signature with --signature.`,
    )
  })

  return (returned: Returnable) => {
    const made: Effect.Effect<
      Option.Option<NewRefund>,
      RefundRefused | CommandFailure,
      Refunding | FileSystem.FileSystem
    > = account !== undefined
      ? Effect.asSome(byKey(returned, account))
      : Option.isSome(asked.signed) && Option.isSome(asked.signature)
        ? Effect.asSome(byFile(returned, asked.signed.value, asked.signature.value))
        : Effect.as(
            toFile(
              returned,
              Option.getOrElse(asked.unsigned, () => ""),
            ),
            Option.none<NewRefund>(),
          )
    return Effect.provide(made, services)
  }
})
