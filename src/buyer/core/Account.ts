/** The signer of a buyer: a viem account, a browser's wallet, or any other that signs EIP-712 typed data. */

type Hex = `0x${string}`

/** One EIP-3009 transfer of exactly the offered amount. */
export interface AuthorizationData {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: Hex
  }
  readonly types: {
    readonly TransferWithAuthorization: ReadonlyArray<{ readonly name: string; readonly type: string }>
  }
  readonly primaryType: "TransferWithAuthorization"
  readonly message: {
    readonly from: Hex
    readonly to: Hex
    readonly value: bigint
    readonly validAfter: bigint
    readonly validBefore: bigint
    readonly nonce: Hex
  }
}

/** A signer of EIP-712 typed data for an address. */
export interface Account {
  readonly address: Hex
  readonly signTypedData: (data: AuthorizationData) => Promise<Hex>
}
