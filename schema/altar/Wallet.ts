/** The record of a wallet: how many stones it set, how many of them are opened, and each of them. */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Address, listLimit, listMaximum, Timestamp } from "../Common.ts"
import { NotFound } from "../Errors.ts"
import { Count, listOf, Position } from "../Fields.ts"
import { LogStatus } from "../log/LogApi.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { type Group } from "../Group.ts"
import { AltarRequests, described, readsChapter, Unknown } from "./Requests.ts"
import { RevealBroken } from "./Reveal.ts"
import { ChainHead, ListedStone, stonesBefore, WitnessList } from "./Witness.ts"

const lowerCase = SchemaTransformation.transform({
  decode: (address: string) => address.toLowerCase(),
  encode: (wallet: string) => wallet,
})

/** An address in any case, decoded to lower case: one wallet has one record. */
export const Wallet = Address.pipe(Schema.decodeTo(Schema.String, lowerCase))

const Place = Schema.NullOr(
  Schema.Struct({ sequence: Position, witnessedAt: Timestamp }).annotate({
    identifier: "StonePlace",
    description: "The place and time of a stone.",
  }),
)

export const WalletRecord = Schema.Struct({
  ok: Schema.Literal(true),
  /** In lower case. */
  wallet: Address,
  sealed: Count.annotateKey({ description: "`opened`, `closed` and `hidden` together." }),
  opened: Count,
  /** Not revealed. */
  closed: Count,
  hidden: Count.annotateKey({ description: "Revealed, and not shown." }),
  kinds: Schema.Struct({ intention: Count, prediction: Count, promise: Count, hash: Count }),
  first: Place,
  last: Place,
  asOf: Schema.Struct({
    head: ChainHead,
    /** The newest one; null before the first. */
    checkpoint: Schema.NullOr(Schema.Struct({ size: LogStatus.fields.size, root: LogStatus.fields.root })),
  }),
  stones: listOf(ListedStone, listMaximum),
  next: WitnessList.fields.next,
}).annotate({
  identifier: "WalletRecord",
  description: "The stones of a wallet, newest first, and their number at this head of the chain.",
})
export type WalletRecord = typeof WalletRecord.Type

export const readWallet = HttpApiEndpoint.get("readWallet", "/api/wallets/:wallet", {
  params: { wallet: Wallet },
  query: {
    limit: listLimit("stones"),
    before: stonesBefore,
  },
  success: WalletRecord,
  error: [NotFound, RevealBroken, BrokenChain],
})
  .annotateMerge(
    described(
      "The record of a wallet",
      "All stones that a wallet sealed, opened or not: the chain has no gaps. One person may hold many wallets. An unknown wallet has an empty record.",
    ),
  )
  .annotate(
    Unknown,
    () =>
      new NotFound({
        message: "This is no address of a wallet. Send 0x and 40 hexadecimal digits. This request charged nothing.",
      }),
  )

export const WalletsGroup: Group<"wallets", typeof readWallet, AltarRequests> = HttpApiGroup.make("wallets")
  .add(readWallet)
  .middleware(AltarRequests)
  .annotateMerge(readsChapter)
