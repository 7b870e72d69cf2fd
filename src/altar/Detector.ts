/** Detects links, domains, e-mails, IP addresses and wallets in text, also when disguised. */
import { isIP } from "node:net"
import { parse } from "tldts"

/** Removes invisible characters, which may stand anywhere in a readable name. */
const visible = (text: string): string => text.replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, "")

/** NFKC without invisible characters, with spelled-out dots restored, lowercase only where case means nothing. */
const plain = (text: string): string =>
  visible(visible(text).normalize("NFKC"))
    .replace(/[\u3002\uff61\u2024\u00b7]/gu, ".")
    .replace(/\s*[[({<]\s*(?:\.|dot|punkt)\s*[\])}>]\s*/giu, ".")
    .replace(/\s+dot\s+(?=[\p{L}\p{M}\p{N}-]{2,})/giu, ".")
    .replace(/\s*[[({<]\s*(?:@|at)\s*[\])}>]\s*/giu, "@")
    .normalize("NFKC")

const scheme =
  /(?:\b[a-z][a-z0-9+.-]{1,15}:\/\/|\b(?:mailto|tel|magnet|data|javascript|ipfs|ipns|bitcoin|ethereum|solana|lightning):\S)/iu
const email = /[^\s@<>]@[^\s@<>]+\.[\p{L}\p{M}\p{N}-]{2,}/u
const evm = /0x[0-9a-f]{40,64}(?![0-9a-f])/iu
/** A wallet without its prefix: forty hex digits with a decimal one, which a drawn-out word lacks. */
const bareEvm = /(?<![0-9a-f])(?=[a-f]*[0-9])[0-9a-f]{40}(?![0-9a-f])/iu
const bech32 = /\b(?:bc1|tb1|ltc1|cosmos1|addr1)[02-9ac-hj-np-z]{11,90}\b/iu
const base58Bitcoin = /(?<![1-9A-HJ-NP-Za-km-z])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![1-9A-HJ-NP-Za-km-z])/u
const base58Long = /(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{32,44}(?![1-9A-HJ-NP-Za-km-z])/gu
/** A label is a word or a picture; one picture is a whole name. */
const nameService =
  /(?:[\p{L}\p{N}\p{M}\p{S}_-]{2}|\p{S})\.(?:eth|sol|lens|crypto|nft|wallet|bnb|onion|bit|dao|zil|btc)(?![\p{L}\p{N}])/iu
/** Many scripts write labels with combining marks, also at the end. Matches start only at a word, for speed. */
const hostLike =
  /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,63}/gu
const ipv4Like = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)/gu
const ipv6Like = /[0-9a-f:]*:[0-9a-f:.]*/giu

/** Base58 of wallet length counts as a wallet when it mixes digits and both cases, as random bytes do. */
const looksRandom = (text: string) => /[0-9]/u.test(text) && /[a-z]/u.test(text) && /[A-Z]/u.test(text)

const isDomain = (host: string) => {
  const { domain, isIcann, isIp } = parse(host.toLowerCase(), { allowPrivateDomains: true })
  return isIp === true || (domain !== null && isIcann === true)
}

/** `::` alone is punctuation. */
const isIpv6 = (token: string) => {
  const address = token.replace(/^:(?!:)|(?<!:)[.:]+$/gu, "")
  return isIP(address) === 6 && /[0-9a-f]/iu.test(address)
}

const isWallet = (seen: string): boolean =>
  evm.test(seen) ||
  bareEvm.test(seen) ||
  bech32.test(seen) ||
  base58Bitcoin.test(seen) ||
  (seen.match(base58Long) ?? []).some(looksRandom)

const isLink = (seen: string): boolean =>
  scheme.test(seen) ||
  email.test(seen) ||
  nameService.test(seen) ||
  (seen.match(hostLike) ?? []).some(isDomain) ||
  (seen.match(ipv4Like) ?? []).some((token) => isIP(token) === 4) ||
  (seen.match(ipv6Like) ?? []).some(isIpv6)

/** Tests the text with and without combining marks: many scripts need them, and a struck-out domain stays readable. */
const isRead = (text: string, as: (seen: string) => boolean): boolean => {
  const seen = plain(text)
  return as(seen) || as(seen.replace(/\p{M}/gu, ""))
}

/** Whether a text holds a link, domain, e-mail, IP or wallet address; a dedication is then held, words are hidden. */
export const pointsElsewhere = (text: string): boolean => isRead(text, (seen) => isLink(seen) || isWallet(seen))

/** The link test for a salt, which is random and may look like a wallet. */
export const linksElsewhere = (salt: string): boolean => isRead(salt, isLink)
