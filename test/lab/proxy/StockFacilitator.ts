/** The reference implementation of a facilitator, which settles on a real chain. */
import { x402Facilitator } from "@x402/core/facilitator"
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { type Account, createWalletClient, http, publicActions } from "viem"
import { receiptBy } from "../Chain.ts"

export const clientOf = (account: Account, rpcUrl: string) =>
  createWalletClient({ account, transport: http(rpcUrl, { retryCount: 0 }), pollingInterval: 20 }).extend(publicActions)

/** `writeContract` sends the settlement; the account signs for itself, so a call that reverts is not broadcast. */
export const stockFacilitator = (
  network: `${string}:${string}`,
  client: ReturnType<typeof clientOf>,
  writeContract: FacilitatorEvmSigner["writeContract"] = (call) =>
    client.writeContract({ ...call, chain: null } as never),
) =>
  new x402Facilitator().register(
    network,
    new ExactEvmScheme(
      toFacilitatorEvmSigner({
        address: client.account.address,
        getCode: client.getCode,
        readContract: (call) => client.readContract(call),
        verifyTypedData: (message) => client.verifyTypedData(message as never),
        sendTransaction: (call) => client.sendTransaction({ ...call, chain: null }),
        waitForTransactionReceipt: receiptBy(client),
        writeContract,
      }),
    ),
  )
