/** The statement that authorizes a receipt key, as plain text functions that a browser can load alone. */

/** The first member of a receipt file; another text is another format. */
export const receiptFormat = "spirit-altar-receipt/v1"

/** The `purpose` of every statement, and the name of its EIP-712 domain. */
export const statementPurpose = "spirit-altar receipt key"

/** The receiving account states that a receipt key may sign for this host from this time on. */
export interface Statement {
  readonly purpose: typeof statementPurpose
  readonly did: string
  readonly kid: string
  readonly jwk: { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string }
  /** CAIP-10. */
  readonly payTo: string
  readonly log: string | null
  readonly notBefore: string
  readonly replaces: string | null
}

const hex = (text: string): `0x${string}` => `0x${text.slice(2)}`

/** Network and address of a CAIP-10 account of an EVM chain. */
export const accountOf = (account: string) => {
  const [, network = "", chainId = "", address = ""] = /^(eip155:(\d+)):(0x[0-9a-fA-F]{40})$/u.exec(account) ?? []
  return { network, chainId: Number(chainId), address: hex(address) }
}

const texts = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, type: "string" }))

/** EIP-712 typed data that the receiving account signs; every member is readable in a wallet. */
export const statementData = ({ did, jwk, kid, log, notBefore, payTo, replaces }: Statement) => {
  const { address, chainId } = accountOf(payTo)
  return {
    domain: { name: statementPurpose, version: "1", chainId },
    types: {
      ReceiptKey: [
        ...texts("did", "kid", "key"),
        { name: "payTo", type: "address" },
        ...texts("log", "notBefore", "replaces"),
      ],
    },
    primaryType: "ReceiptKey" as const,
    message: { did, kid, key: jwk.x, payTo: address, log: log ?? "", notBefore, replaces: replaces ?? "" },
  }
}
