/** The storage of a browser, for tests without one. */
export const storage = (kept: Readonly<Record<string, string>> = {}) => {
  const slots: Record<string, unknown> = { ...kept }
  const methods = {
    getItem: (slot: string) => slots[slot] ?? null,
    setItem: (slot: string, text: string) => void (slots[slot] = text),
    removeItem: (slot: string) => void delete slots[slot],
  }
  return Object.defineProperties(
    slots,
    Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, { value, enumerable: false }])),
  )
}
