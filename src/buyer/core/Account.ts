/** The signer of a buyer: a viem account, a browser's wallet, or any other that signs EIP-712 typed data. */

type Hex = `0x${string}`

/** One EIP-3009 transfer of exactly the offered amount. */
export interface AuthorizationData {
  readonly domain: { readonly [Name in "name" | "version"]: string } & {
    readonly chainId: number
    readonly verifyingContract: Hex
  }
  readonly types: {
    readonly TransferWithAuthorization: ReadonlyArray<{ readonly name: string; readonly type: string }>
  }
  readonly primaryType: "TransferWithAuthorization"
  readonly message: { readonly [Name in "from" | "to" | "nonce"]: Hex } & {
    readonly [Name in "value" | "validAfter" | "validBefore"]: bigint
  }
}

/** A signer of EIP-712 typed data for an address. */
export interface Account {
  readonly address: Hex
  readonly signTypedData: (data: AuthorizationData) => Promise<Hex>
}
