/** Recovers the signer of a statement; loaded when a file holds one, since curves are large. */
import { recoverTypedDataAddress } from "viem/utils"
import { type Statement, statementData } from "../../../schema/payments/KeyStatement.ts"

/** The address whose key signed; undefined for bytes that are no signature of a key. */
export const signerOf = (statement: Statement, signature: `0x${string}`): Promise<string | undefined> =>
  recoverTypedDataAddress({ ...statementData(statement), signature }).catch(() => undefined)
