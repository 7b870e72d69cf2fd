/** Signs EIP-3009 authorizations with viem, and the steps of a purchase; loaded only to pay, as one part. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { createClient, custom } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { addChain, getChainId, requestAddresses, signTypedData, switchChain } from "viem/actions"
import { base, baseSepolia } from "viem/chains"
import { networkName } from "../../../../schema/payments/Usdc.ts"
import { type Account, signedBy } from "../../../buyer/core/Authorization.ts"
import type { Challenge } from "../../../buyer/core/Challenge.ts"
import { AnswerError, sentenceOf } from "../page/http.ts"

export { resume, run } from "./checkout.ts"

const words: Readonly<Record<number, string>> = {
  4001: "You declined in your wallet.",
  4100: "The wallet does not allow this page to use that account. Allow it there, then try again.",
  4200: "This wallet cannot sign typed data. Choose another one.",
  4900: "The wallet is not connected to any network.",
  4902: "The wallet does not know the network. Add it there, then try again.",
  [-32002]: "The wallet is already asking you something. Open it and answer there, then try again.",
}

/** Libraries wrap a wallet's error; the first meaningful code below counts. */
const codeOf = (error: unknown, depth = 0): number | undefined => {
  const code = memberAt(error, "code")
  if (typeof code === "number" && code in words) return code
  return error === undefined || depth > 8 ? undefined : codeOf(memberAt(error, "cause"), depth + 1)
}

/** A sentence of ours stays as it is. */
const walletErrorOf = (error: unknown, otherwise: string): string => {
  const code = codeOf(error)
  return code === undefined ? sentenceOf(error, otherwise) : (words[code] ?? otherwise)
}

/** EIP-1193. */
export interface Provider {
  readonly request: (call: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) => Promise<unknown>
}

/** A key that this tab created. */
export const own = (key: `0x${string}`) => {
  const account = privateKeyToAccount(key)
  return {
    address: account.address,
    sign: (challenge: Challenge, body: string, nowMs: number) => signedBy(account, challenge, body, nowMs),
  }
}

/** A wallet of the browser; it shows its owner the data to sign, and is asked once. */
export const injected = async (provider: Provider, network: string) => {
  const chainId = Number(network.split(":")[1])
  const client = createClient({ transport: custom(provider, { retryCount: 0 }) })
  const [address] = await requestAddresses(client).catch((error: unknown) => {
    throw new AnswerError(walletErrorOf(error, "The wallet named no account."))
  })
  if (address === undefined) throw new AnswerError("The wallet named no account.")
  const sign = async (challenge: Challenge, body: string, nowMs: number) => {
    if ((await getChainId(client)) !== chainId) {
      await switchChain(client, { id: chainId })
        .catch(async (error: unknown) => {
          const chain = [base, baseSepolia].find(({ id }) => id === chainId)
          if (codeOf(error) !== 4902 || chain === undefined) throw error
          // Adding a network does not choose it.
          await addChain(client, { chain })
          await switchChain(client, { id: chainId })
        })
        .catch((error: unknown) => {
          throw new AnswerError(walletErrorOf(error, `The wallet did not change to ${networkName(network)}.`))
        })
    }
    const account: Account = { address, signTypedData: (data) => signTypedData(client, { account: address, ...data }) }
    return signedBy(account, challenge, body, nowMs)
  }
  return {
    address,
    sign: (...of: Parameters<typeof sign>) =>
      sign(...of).catch((error: unknown) => {
        throw new AnswerError(walletErrorOf(error, "The wallet gave no signature."))
      }),
  }
}
