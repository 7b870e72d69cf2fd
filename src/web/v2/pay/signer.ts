/** Signs EIP-3009 authorizations with viem; loaded only to pay. */
import { createClient, custom } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { getChainId, requestAddresses, signTypedData, switchChain } from "viem/actions"
import { type Account, signedBy } from "../../../buyer/core/Authorization.ts"
import type { Challenge } from "../../../buyer/core/Challenge.ts"
import { AnswerError } from "../page/http.ts"
import { added, codeOf, networkName, walletErrorOf } from "./walletErrors.ts"

/** EIP-1193. */
export interface Provider {
  readonly request: (call: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) => Promise<unknown>
}

/** A key that this tab created. */
export const own = (key: `0x${string}`) => {
  const account = privateKeyToAccount(key)
  return {
    address: account.address,
    sign: (challenge: Challenge, body: string) => signedBy(account, challenge, body, Date.now()),
  }
}

/** Offers a network that the wallet does not know (EIP-3085); any other error stays. */
const addUnknown = async (provider: Provider, chainId: number, error: unknown) => {
  const network = added(chainId)
  if (codeOf(error) !== 4902 || network === undefined) throw error
  await provider.request({ method: "wallet_addEthereumChain", params: [network] })
}

/** A wallet of the browser; it shows its owner the data to sign, and is asked once. */
export const injected = async (provider: Provider, chainId: number) => {
  const client = createClient({ transport: custom(provider, { retryCount: 0 }) })
  const [address] = await requestAddresses(client).catch((error: unknown) => {
    throw new AnswerError(walletErrorOf(error, "The wallet named no account."))
  })
  if (address === undefined) throw new AnswerError("The wallet named no account.")
  const sign = async (challenge: Challenge, body: string) => {
    if ((await getChainId(client)) !== chainId) {
      await switchChain(client, { id: chainId })
        .catch((error: unknown) =>
          // Adding a network does not choose it.
          addUnknown(provider, chainId, error).then(() => switchChain(client, { id: chainId })),
        )
        .catch((error: unknown) => {
          throw new AnswerError(walletErrorOf(error, `The wallet did not change to ${networkName(chainId)}.`))
        })
    }
    const account: Account = { address, signTypedData: (data) => signTypedData(client, { account: address, ...data }) }
    return signedBy(account, challenge, body, Date.now())
  }
  return {
    address,
    sign: (challenge: Challenge, body: string) =>
      sign(challenge, body).catch((error: unknown) => {
        throw new AnswerError(walletErrorOf(error, "The wallet gave no signature."))
      }),
  }
}
