/** Payments, records and claims: every fault that somebody puts into them is found. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { Altar } from "./fixture/AuditedAltar.ts"
import { auditAfter, auditing, type Fault } from "./fixture/AuditFaults.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { newPayer } from "../lab/Fixture.ts"

const otherSpirit = spiritIds.at(-1) ?? ""

/** A settled act of a kind, in SQL. */
const the = (act: string) =>
  `(SELECT id FROM payment_attempts WHERE act = '${act}' AND state = 'settled' ORDER BY id LIMIT 1)`
const keeper = the("takeIn")

/** Everything that is left of a purchase. */
const forget = (id: string, table: string) => `
  CREATE TEMP TABLE gone AS SELECT ${id} AS id;
  DELETE FROM relayer_broadcasts WHERE attempt_id IN (SELECT id FROM gone);
  DELETE FROM payment_claims WHERE attempt_id IN (SELECT id FROM gone);
  DELETE FROM acts WHERE id IN (SELECT id FROM gone);
  DELETE FROM ${table} WHERE id IN (SELECT id FROM gone);
  UPDATE payment_totals SET settled = settled - 1, settled_atomic = settled_atomic - 10000;
  DELETE FROM payment_attempts WHERE id IN (SELECT id FROM gone)`

const faults: ReadonlyArray<Fault> = [
  [
    "an act that is no longer shown",
    `DELETE FROM acts WHERE id = ${keeper}`,
    "a receipt is shown of each settled act, once",
  ],
  ["a purchase that was lost", forget(keeper, "keepers"), "a transfer buys one act"],
  ["a record that was lost", "DELETE FROM keepers", "a settled act has its one record"],
  [
    "a record of another kind beside its own",
    `INSERT INTO candles SELECT ${keeper}, NULL, 'moss-hare', 'day', 'x', NULL, NULL, NULL, NULL, now(), now()`,
    "a settled act has its one record",
  ],
  [
    "an act that was not paid",
    `UPDATE payment_attempts SET nonce = '0x' || repeat('7', 64) WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an act that costs more than was paid",
    `UPDATE payment_attempts SET amount_atomic = 20000 WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an act that was paid to somebody else",
    `UPDATE payment_attempts SET pay_to = '0x' || repeat('7', 40) WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an authorization in two acts",
    `UPDATE payment_attempts a SET payer = b.payer, nonce = b.nonce FROM payment_attempts b WHERE a.id = ${keeper} AND b.id = ${the("offerPrayer")}`,
    "no authorization pays two acts",
  ],
  [
    "a receipt of another transaction",
    `UPDATE acts SET receipt = regexp_replace(receipt, '0x[0-9a-f]{64}', '0x' || repeat('7', 64)) WHERE id = ${keeper}`,
    "a receipt is shown of each settled act, once",
  ],
  [
    "a record that says something else",
    `UPDATE acts SET record = replace(record, 'moss-hare', '${otherSpirit}') WHERE id = ${keeper}`,
    "a record is shown as it was answered",
  ],
  [
    "a settled act that is said to have failed",
    `UPDATE payment_attempts SET state = 'failed', reason = 'x' WHERE id = ${keeper}`,
    "a transfer buys one act",
  ],
  [
    "a paid attempt that stays open",
    `UPDATE payment_attempts SET state = 'pending', next_check_at = now() + interval '1 minute' WHERE id = ${keeper}`,
    "nothing is pending without a reason",
  ],
  [
    "an open attempt that nobody looks at",
    `CREATE OR REPLACE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.next_check_at := now() + interval '1 year'; RETURN NEW; END $$;
    CREATE TRIGGER later BEFORE UPDATE ON payment_attempts FOR EACH ROW EXECUTE FUNCTION later();
    UPDATE payment_attempts SET checks = checks WHERE state = 'pending'`,
    "nothing is pending without a reason",
  ],
  [
    "a paid act that is said to be lost",
    `UPDATE payment_attempts SET finality = 'lost' WHERE id = ${keeper}`,
    "a lost act was not paid",
  ],
  [
    "a total that is one too many",
    "UPDATE payment_totals SET settled = settled + 1",
    "the totals are the sums of the settled acts",
  ],
  [
    "a name that is free again",
    "DELETE FROM payment_claims WHERE name LIKE 'keeper:%'",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "an authorization that is free again",
    `DELETE FROM payment_claims WHERE attempt_id = ${keeper} AND name LIKE 'authorization:%'`,
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a name that a failed attempt keeps",
    "INSERT INTO payment_claims SELECT 'keeper:nobody', id FROM payment_attempts WHERE state = 'failed' LIMIT 1",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a prayer on another day",
    "UPDATE prayers SET day = '2001-01-01'",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a number of a pool that is gone",
    "UPDATE payment_pools SET highest = highest + 1 WHERE name = 'edition:beeswax'",
    "the numbers of a pool are out once, or free",
  ],
  [
    "a number of a pool that is out twice",
    "UPDATE payment_pools SET released = released || 2 WHERE name = 'edition:beeswax'",
    "the numbers of a pool are out once, or free",
  ],
  [
    "an edition of another number",
    "UPDATE collectibles SET edition = 99 WHERE edition = 1",
    "an edition has the number that was claimed",
  ],
  [
    "an act that was sold for another price",
    "UPDATE payment_attempts SET amount_atomic = 10000 WHERE act = 'lightDay'",
    "an act is paid its price",
  ],
  [
    "a stored answer of another payment",
    `UPDATE payment_attempts SET answer = regexp_replace(answer, '("receipt":.*?"0x)[0-9a-f]{64}', '\\1' || repeat('7', 64)) WHERE id = ${keeper}`,
    "a stored answer names its payment",
  ],
]

auditing("payments", faults, [], (it) => {
  it.effect("takes no gift for a purchase, nor what an outsider brought before anybody showed it here", () =>
    Effect.gen(function* () {
      const { server } = yield* Altar
      const giver = yield* newPayer(10_000n)
      yield* Purchase.onChain(async (client, { asset, payTo }) => {
        await client.impersonateAccount({ address: giver.address })
        await client.setBalance({ address: giver.address, value: 10n ** 18n })
        const call = {
          address: asset,
          abi: Purchase.token,
          functionName: "transfer",
          args: [payTo, 10_000n],
        } as const
        const hash = await client.writeContract({ ...call, account: giver.address, chain: null })
        await client.waitForTransactionReceipt({ hash })
      })
      yield* broadcast(yield* Purchase.prepare(server))
      const { checks, violations } = yield* auditAfter("SELECT 1")
      assert.deepStrictEqual(violations, [])
      const examined = new Map(checks.map(({ examined, name }) => [name, examined]))
      assert.strictEqual(examined.get("a gift buys nothing"), 1)
      assert.strictEqual(examined.get("an outsider brought an authorization that nobody ever showed here"), 1)
      assert.strictEqual(examined.get("a transfer buys one act"), 10)
    }),
  )
})
