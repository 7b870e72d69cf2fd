/** Ends work with a signal; a signal may outlive thousands of calls, so no listener stays. */
export const unlessAborted = <A>(signal: AbortSignal, work: () => Promise<A>): Promise<A> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener("abort", abort)
  return Promise.race([Promise.resolve().then(work), promise]).finally(() => signal.removeEventListener("abort", abort))
}
