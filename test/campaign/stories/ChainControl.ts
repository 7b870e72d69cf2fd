/** The hands of a story on its chain, past every fault: its own state, its blocks and their times. */
import { Effect } from "effect"
import { type Hex, parseAbiItem } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { chainClient, token } from "../../lab/Chain.ts"
import { newPayer } from "../../lab/Fixture.ts"
import type { Payment } from "../../lab/buyer/Payment.ts"
import { submit, submitCancel } from "../../lab/buyer/ThirdParty.ts"
import type { End, Truth, Wallet } from "./AltarModel.ts"
import type { ControlledClock } from "./ControlledClock.ts"

const used = parseAbiItem("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)")
const canceled = parseAbiItem("event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)")

/** Atomic USDC of each wallet at the beginning: the poor one has it for two acts of a cent and a half. */
const funds: Readonly<Record<Wallet, bigint>> = { rich: 100_000_000n, poor: 25_000n }

export const chainControl = Effect.fnUntraced(function* (hands: ControlledClock) {
  const { asset, chainId, rpcUrl } = yield* LocalChain
  const client = chainClient(rpcUrl)
  const payers = { rich: yield* newPayer(funds.rich), poor: yield* newPayer(funds.poor) }
  const request = (method: string, params: ReadonlyArray<unknown> = []) =>
    client.request({ method: method as never, params: params as never }) as Promise<unknown>
  let isMining = true
  /** The highest block that was ever called final. */
  let settledUpTo = 0n

  const newest = () => client.getBlock({ blockTag: "latest" })

  /** Blocks of the story's time. */
  const mine = async (blocks: number) => {
    const { timestamp } = await newest()
    const now = BigInt(Math.floor(hands.now() / 1000))
    await request("evm_setNextBlockTimestamp", [`0x${(now > timestamp ? now : timestamp + 1n).toString(16)}`])
    for (let block = 0; block < blocks; block += 1) await client.mine({ blocks: 1 })
  }

  /** From here on a block's time is a second after the one before it, and no earlier block is orphaned. */
  const begin = async () => {
    await request("anvil_setBlockTimestampInterval", [1])
    await mine(4)
  }

  const truth = async (payments: ReadonlyArray<Payment>): Promise<Truth> => {
    const [latest, final, usedLogs, canceledLogs, rich, poor] = await Promise.all([
      newest(),
      client.getBlock({ blockTag: "finalized" }),
      client.getLogs({ address: asset, event: used, fromBlock: 0n }),
      client.getLogs({ address: asset, event: canceled, fromBlock: 0n }),
      ...([payers.rich, payers.poor] as const).map(({ address }) =>
        client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [address] }),
      ),
    ])
    if (final.number > settledUpTo) settledUpTo = final.number
    const ends = new Map<number, End>()
    for (const [place, payment] of payments.entries()) {
      const { nonce } = payment.payload.authorization
      const paying = usedLogs.find(({ args }) => args.nonce === nonce)
      const cancelling = canceledLogs.find(({ args }) => args.nonce === nonce)
      if (paying !== undefined) ends.set(place, { how: "paid", block: paying.blockNumber })
      else if (cancelling !== undefined) ends.set(place, { how: "cancelled", block: cancelling.blockNumber })
    }
    return {
      newest: { number: latest.number, time: Number(latest.timestamp) },
      final: { number: final.number, time: Number(final.timestamp) },
      ends,
      balances: { rich: rich ?? 0n, poor: poor ?? 0n },
    }
  }

  const mining = async (isOn: boolean) => {
    isMining = isOn
    await client.setAutomine(isOn)
    if (isOn) await mine(1)
  }

  /** The newest blocks never were, where they can still go; their transactions return in later ones, or never. */
  const takeBack = async (blocks: number, comesBack: boolean) => {
    const { number } = await newest()
    if (!isMining || number - BigInt(blocks) < settledUpTo) return
    const gone: Array<Hex> = []
    for (let height = number - BigInt(blocks) + 1n; height <= number; height += 1n) {
      const { transactions } = await client.getBlock({ blockNumber: height })
      for (const hash of transactions) gone.push((await request("eth_getRawTransactionByHash", [hash])) as Hex)
    }
    await request("anvil_rollback", [blocks])
    await mine(1)
    if (comesBack) for (const serializedTransaction of gone) await client.sendRawTransaction({ serializedTransaction })
  }

  const written = async (sending: Promise<Hex>) => {
    await client.waitForTransactionReceipt({ hash: await sending })
  }

  /** A third party submits a signed payment; where it cannot be made, it reverts. */
  const bring = ({ payload }: Payment) => written(submit(client, asset, payload))

  const cancel = ({ payload }: Payment, payer: PrivateKeyAccount) =>
    written(submitCancel(client, { asset, chainId }, payer, payload.authorization.nonce))

  yield* Effect.acquireRelease(Effect.promise(begin), () =>
    Effect.promise(() => request("anvil_removeBlockTimestampInterval")),
  )
  return { payers, isMining: () => isMining, mine, mining, truth, takeBack, bring, cancel }
})

/** Everything is a promise: a story is told by its own steps. */
export type ChainControl = Effect.Success<ReturnType<typeof chainControl>>
