/** Files that were made and checked a moment ago: so many bytes of them, those longest unused go first. A `Cache` counts entries. */

export interface Bounds {
  /** Bytes of all files together. */
  readonly mostBytes: number
  /** How long a file is shown before it is made and checked anew, ms. */
  readonly freshMs: number
}

export interface FileMemo<F> {
  /** `now` in ms. */
  readonly get: (path: string, now: number) => F | undefined
  readonly set: (path: string, file: F, bytes: number, now: number) => void
}

export const make = <F>({ freshMs, mostBytes }: Bounds): FileMemo<F> => {
  const files = new Map<string, { readonly file: F; readonly bytes: number; readonly until: number }>()
  let total = 0
  const drop = (path: string) => {
    total -= files.get(path)?.bytes ?? 0
    files.delete(path)
  }
  return {
    get: (path, now) => {
      const known = files.get(path)
      if (known === undefined) return undefined
      drop(path)
      if (known.until <= now) return undefined
      files.set(path, known)
      total += known.bytes
      return known.file
    },
    set: (path, file, bytes, now) => {
      drop(path)
      if (bytes > mostBytes) return
      files.set(path, { file, bytes, until: now + freshMs })
      total += bytes
      for (const oldest of files.keys()) {
        if (total <= mostBytes) break
        drop(oldest)
      }
    },
  }
}
