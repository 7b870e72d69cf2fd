/** The log's entry of a stone: the text that its chain hash covers, so that chain and tree agree. */
import { type ChainLink, chainLinkText } from "../altar/ChainLink.ts"
import { type Bytes, utf8 } from "./Bytes.ts"

/** The position of a stone's leaf, from 0. */
export const indexOf = ({ sequence }: Pick<ChainLink, "sequence">): number => sequence - 1

export const entryOf = (link: ChainLink): Bytes => utf8(chainLinkText(link))
