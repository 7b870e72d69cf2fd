/** Hashes links of the witness chain and checks them by the contract's rules. */
import { type ChainPoint, checkLink, type LinkCheck } from "../../../schema/altar/ChainCheck.ts"
import { type ChainLink, chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { sha256 } from "./Digest.ts"

/** A stone or chain entry, as the altar serves it. */
export interface Link extends ChainLink {
  readonly chainHash: string
}

export const chainHashOf = (link: ChainLink): Promise<string> => sha256(chainLinkText(link))

/** Checks every link against the one before it, the first against `start`; continues after a fault. */
export const checkLinks = <L extends Link>(
  links: ReadonlyArray<L>,
  start: ChainPoint,
): Promise<ReadonlyArray<LinkCheck<L>>> =>
  Promise.all(
    links.map((link, index) =>
      chainHashOf(link).then((computed) => checkLink(link, links[index - 1] ?? start, computed)),
    ),
  )
