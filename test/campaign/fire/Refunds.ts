/** The end of a phase: everything that bought nothing is refunded, and two acts beside, while commands, servers and the node fail. */
import type { Random } from "../../lab/Random.ts"
import { recover } from "./Recovery.ts"
import { refund, refundAndMayDie, strikes, type Struck } from "./Strikes.ts"

const rounds = 2
const meant = strikes.filter(({ name }) => /^(?:server|database|node|chain):/u.test(name))

interface Listed {
  readonly reason: string
  readonly network: string
  readonly transaction: string
  readonly refund: { readonly state: string } | null
}

/** Answers what an operator could not refund, or refunded otherwise than in full. */
export const refundAll = async (world: Struck, random: Random): Promise<ReadonlyArray<string>> => {
  const { cluster, database } = world
  const fitting = meant.filter(({ fits }) => fits?.(world) !== false)
  // The chain is past every authorization, and the database's clock is behind it.
  await cluster.run("UPDATE payment_strays SET valid_before = 1 WHERE network <> 'card'", database)
  const chosen = await cluster.run(
    "SELECT id FROM payment_attempts WHERE finality = 'final' AND rail = 'x402' AND act <> 'refund' ORDER BY id LIMIT 2",
    database,
  )
  const acts = chosen.map(({ id }) => String(id))
  for (let round = 0; round < rounds; round += 1) {
    const lot = random.fork(`round ${round}`)
    await Promise.all([
      ...Array.from({ length: 2 }, (_, nth) => {
        const strike = lot.fork(`strike ${nth}`)
        const one = strike.pick(fitting)
        world.log(`${one.name}, while payments are refunded`)
        return one
          .run(world, strike)
          .catch((cause: unknown) => world.log(`${one.name}: ${String(cause).slice(0, 160)}`))
      }),
      refundAndMayDie(world, lot.fork("all"), "--all", "--limit", "10000"),
      ...acts.map((id) => refundAndMayDie(world, lot.fork(id), "--attempt", id)),
    ])
  }
  const violations = [...(await recover(world))]
  for (const flags of [["--all", "--limit", "10000"], ...acts.map((id) => ["--attempt", id])]) {
    const { code, stderr, stdout } = await refund(world, ...flags).ended
    const isRefunded = /was refunded in|is being refunded/u.test(stderr + stdout)
    if (code !== 0 && !isRefunded) violations.push(`admin refund ${flags.join(" ")} failed: ${stderr.slice(0, 300)}`)
  }
  violations.push(...(await world.rests()))
  const { stderr, stdout } = await refund(world, "--limit", "10000").ended
  const { payments }: { payments: ReadonlyArray<Listed> } = stdout === "" ? { payments: [] } : JSON.parse(stdout)
  if (stdout === "") violations.push(`admin refund lists nothing: ${stderr.slice(0, 300)}`)
  // Cards are refunded at their processor, and a lost act was not paid.
  for (const { network, reason, refund: last, transaction } of payments)
    if (network !== "card" && reason !== "lost")
      violations.push(`${transaction} (${reason}) was not refunded: ${last?.state ?? "nothing was recorded"}`)
  const made = await cluster.run(
    `SELECT f.payment, f.reason, t.state, t.finality, t.amount_atomic = f.original_atomic AS "isWhole"
     FROM payment_refunds f JOIN payment_attempts t ON t.id = f.id`,
    database,
  )
  for (const { finality, isWhole, payment, state } of made)
    if (state !== "settled" || finality !== "final" || isWhole !== true)
      violations.push(`the refund of ${String(payment)} is ${String(state)}, ${String(finality)}`)
  const chosenRefunds = made.filter(({ reason }) => reason === "settled")
  if (chosenRefunds.length !== acts.length)
    violations.push(`${chosenRefunds.length} of ${acts.length} acts were refunded by choice`)
  world.log(`${made.length} payments are refunded, ${acts.length} of them of acts that stand`)
  return violations
}
