export const add = (sums: Map<string, number>, name: string, count = 1) => sums.set(name, (sums.get(name) ?? 0) + count)
