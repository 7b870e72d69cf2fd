/** Platforms whose WebCrypto lacks an algorithm. */

/** Runs as on a platform without algorithms of this name; an empty name means all of them. */
export const lacking = <A>(name: string, run: () => Promise<A>): Promise<A> => {
  const { importKey } = crypto.subtle
  const absent = (...given: ReadonlyArray<unknown>) =>
    JSON.stringify(given[2]).includes(name)
      ? Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"))
      : Reflect.apply(importKey, crypto.subtle, given)
  Object.assign(crypto.subtle, { importKey: absent })
  return run().finally(() => Object.assign(crypto.subtle, { importKey }))
}
