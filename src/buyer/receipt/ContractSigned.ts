/** Asks a contract wallet at a node whether it accepts a statement's signature (EIP-1271). The answer is of now. */
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  hashTypedData,
  http,
  parseAbi,
} from "viem"
import { accountOf, statementData } from "../../../schema/payments/KeyStatement.ts"
import { Unproven } from "../log/Verdict.ts"
import { type ContractSigned, hex } from "./Authority.ts"

const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])

const accepted = "0x1626ba7e"

/** A contract that rejects the signature reverts or answers something else, and a wallet without code nothing. */
const isRejection = (error: unknown) =>
  error instanceof BaseError &&
  error.walk((one) => one instanceof ContractFunctionRevertedError || one instanceof ContractFunctionZeroDataError) !==
    null

/** Rejects when the node does not answer, or is of another network. */
export const contractSigned =
  (rpcUrl: string): ContractSigned =>
  async ({ signature, statement }) => {
    const { address, chainId } = accountOf(statement.payTo)
    const client = createPublicClient({
      transport: http(rpcUrl, { retryCount: 1, timeout: 10_000, fetchOptions: { redirect: "error" } }),
    })
    if ((await client.getChainId()) !== chainId)
      throw new Unproven("unsupported", `The node is of another network than ${statement.payTo}.`)
    const args = [hashTypedData(statementData(statement)), hex(signature)] as const
    return client.readContract({ address, abi, functionName: "isValidSignature", args }).then(
      (answer) => answer === accepted,
      (error: unknown) => (isRejection(error) ? false : Promise.reject(error)),
    )
  }
