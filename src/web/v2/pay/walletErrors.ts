/** Errors of a wallet in words its owner can act on (EIP-1193, EIP-3085, EIP-1474 codes). */
import { sentenceOf } from "../page/http.ts"

const networks: Readonly<Record<number, string>> = { 8453: "Base", 84532: "Base Sepolia" }

export const networkName = (chainId: number) => `${networks[chainId] ?? "the network"} (chain ${chainId})`

const ether = { name: "Ether", symbol: "ETH", decimals: 18 }

/** The parameters by which a wallet adds a network (EIP-3085). */
export const added = (chainId: number) => {
  const prefix = chainId === 8453 ? "" : "sepolia."
  return networks[chainId] === undefined
    ? undefined
    : {
        chainId: `0x${chainId.toString(16)}`,
        chainName: networks[chainId],
        nativeCurrency: ether,
        rpcUrls: [`https://${prefix === "" ? "mainnet" : "sepolia"}.base.org`],
        blockExplorerUrls: [`https://${prefix}basescan.org`],
      }
}

const words: Readonly<Record<number, string>> = {
  4001: "You declined in your wallet.",
  4100: "The wallet does not allow this page to use that account. Allow it there, then try again.",
  4200: "This wallet cannot sign typed data. Choose another one.",
  4900: "The wallet is not connected to any network.",
  4902: "The wallet does not know the network. Add it there, then try again.",
  [-32002]: "The wallet is already asking you something. Open it and answer there, then try again.",
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** Libraries wrap a wallet's error; the first meaningful code below counts. */
export const codeOf = (error: unknown, depth = 0): number | undefined => {
  const code = field(error, "code")
  if (typeof code === "number" && code in words) return code
  return error === undefined || depth > 8 ? undefined : codeOf(field(error, "cause"), depth + 1)
}

/** A sentence of ours stays as it is. */
export const walletErrorOf = (error: unknown, otherwise: string): string => {
  const code = codeOf(error)
  return code === undefined ? sentenceOf(error, otherwise) : (words[code] ?? otherwise)
}
