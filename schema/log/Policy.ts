/** The logs and cosigners that a reader trusts, and the required quorum (C2SP tlog-policy). */
import { fromDecimal, hex, Malformed } from "./Bytes.ts"
import { keyTypes, parseVerifierKey } from "./Note.ts"

export interface PolicyCosigner {
  /** The name in the policy. */
  readonly name: string
  /** A verifier key of the cosignature type. */
  readonly vkey: string
  /** Base URL without trailing slashes. */
  readonly url: string | undefined
}

export interface Policy {
  /** Verifier keys of logs. */
  readonly logs: ReadonlyArray<string>
  readonly cosigners: ReadonlyArray<PolicyCosigner>
  /** The name in the policy; `none` is always met. */
  readonly quorum: string
  /** Whether signatures of the cosigners with these verifier keys meet the quorum. */
  readonly isMet: (signed: ReadonlySet<string>) => boolean
}

type Test = Policy["isMet"]

const isUrl = (text: string) => /^https?:\/\/[^\s/]+(?:\/\S*)?$/u.test(text)

/** Parses a policy. An unknown line makes it invalid, because its requirement would go unchecked. */
export const parsePolicy = (text: string): Policy | Malformed => {
  const logs: Array<string> = []
  const cosigners: Array<PolicyCosigner> = []
  const tests = new Map<string, Test>()
  const keys = new Map<string, string>()
  const members = new Set<string>()
  /** The cosigners, by the names of their keys, that stand behind each name of the policy. */
  const signers = new Map<string, ReadonlyArray<string>>()
  let quorum: { readonly name: string; readonly isMet: Test } | undefined

  const wrongKey = (vkey: string, type: number) => {
    const key = parseVerifierKey(vkey)
    if (key instanceof Malformed) return key.message
    return key.type === type ? undefined : `the key of ${key.name} is not of type ${type}`
  }

  /** Returns the fault of a line, if any. */
  const take = (word: string, rest: ReadonlyArray<string>): string | undefined => {
    const [first = "", second = "", third] = rest
    const url = word === "log" ? rest[1] : third
    if (url !== undefined && (word === "log" || word === "witness") && !isUrl(url)) return `${url} is no URL`
    if (word !== "log" && word !== "quorum" && (tests.has(first) || first === "none")) return `${first} is taken`
    switch (word) {
      case "log": {
        if (rest.length < 1 || rest.length > 2) return "a log is its verifier key, and a URL where it has one"
        const wrong = wrongKey(first, keyTypes.ed25519)
        if (wrong === undefined) logs.push(first)
        return wrong
      }
      case "witness": {
        if (rest.length < 2 || rest.length > 3)
          return "a witness is a name, its verifier key, and a URL where it has one"
        const wrong = wrongKey(second, keyTypes.cosignature)
        if (wrong !== undefined) return wrong
        // One signer must not count twice under two names.
        const key = parseVerifierKey(second)
        const publicKey = key instanceof Malformed ? second : hex(key.publicKey)
        const taken = keys.get(publicKey)
        if (taken !== undefined) return `the key of ${first} is that of ${taken}`
        keys.set(publicKey, first)
        cosigners.push({ name: first, vkey: second, url: url?.replace(/\/+$/u, "") })
        tests.set(first, (signed) => signed.has(second))
        signers.set(first, [key instanceof Malformed ? first : key.name])
        return undefined
      }
      case "group": {
        const names = rest.slice(2)
        const memberTests = names.flatMap((name) => tests.get(name) ?? [])
        if (names.length === 0 || memberTests.length < names.length)
          return "a group is a name, all, any or a number, and its members, each named above"
        for (const name of names) {
          if (members.has(name)) return `${name} is a member of a group already`
          members.add(name)
        }
        const least = second === "all" ? memberTests.length : second === "any" ? 1 : fromDecimal(second)
        if (least === undefined || least < 1 || least > memberTests.length) {
          return `${second} is neither all, any, nor a number from 1 to ${memberTests.length}`
        }
        // A cosigner with keys of two types must not count twice.
        const behind = names.map((name) => new Set(signers.get(name)))
        const all = behind.flatMap((some) => [...some])
        const twice = all.find((name, at) => all.indexOf(name) < at)
        if (least > 1 && twice !== undefined) return `${twice} would count twice: put its keys in a group of any`
        signers.set(first, all)
        tests.set(first, (signed) => memberTests.filter((isMet) => isMet(signed)).length >= least)
        return undefined
      }
      case "quorum": {
        const isMet = first === "none" ? () => true : tests.get(first)
        if (rest.length !== 1 || isMet === undefined) return "a quorum is none, or a witness or group named above"
        if (quorum !== undefined) return "there is one quorum"
        quorum = { name: first, isMet }
        return undefined
      }
      default:
        return `${word} is neither log, witness, group nor quorum`
    }
  }

  for (const [at, line] of text.split("\n").entries()) {
    const [word = "", ...rest] = line.trim().split(/[ \t]+/u)
    if (word === "" || word.startsWith("#")) continue
    const wrong = take(word, rest)
    if (wrong !== undefined) return new Malformed(`Line ${at + 1} of the policy: ${wrong}.`)
  }
  return quorum === undefined
    ? new Malformed("The policy has no quorum: say quorum none where no witness has to sign.")
    : { logs, cosigners, quorum: quorum.name, isMet: quorum.isMet }
}

/** The only log of a policy. */
export const onlyLogOf = ({ logs }: Policy) => (logs.length === 1 ? logs[0] : undefined)
