/** A map with a total weight limit that evicts the oldest entries. Effect's `Cache` limits only their number. */
export class BoundedMap<Key, Value> {
  private readonly entries = new Map<Key, { readonly value: Value; readonly weight: number }>()
  private readonly limit: number
  private held = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key)?.value
  }

  delete(key: Key): void {
    this.held -= this.entries.get(key)?.weight ?? 0
    this.entries.delete(key)
  }

  clear(): void {
    this.entries.clear()
    this.held = 0
  }

  /** Stores nothing that alone exceeds the limit. */
  set(key: Key, value: Value, weight = 1): void {
    this.delete(key)
    if (weight > this.limit) return
    this.entries.set(key, { value, weight })
    this.held += weight
    for (const oldest of this.entries.keys()) {
      if (this.held <= this.limit) return
      this.delete(oldest)
    }
  }
}
