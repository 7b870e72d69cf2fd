/** Decision 5 in every statement: nothing that engines lack which speak PostgreSQL's protocol. */
import { assert, describe, it } from "@effect/vitest"
import { violationsOf, wordsIn } from "../lab/Portability.ts"
import { filesIn, textOf } from "../lab/Sources.ts"

const wrong: ReadonlyArray<readonly [statement: string, what: string]> = [
  ["LOCK TABLE acts IN ACCESS EXCLUSIVE MODE", "LOCK TABLE"],
  ["SELECT pg_advisory_xact_lock(1)", "an advisory lock"],
  ["SELECT 1 WHERE pg_try_advisory_lock(7)", "an advisory lock"],
  ["LISTEN settled", "LISTEN"],
  ["NOTIFY settled", "NOTIFY"],
  ["SELECT pg_notify('settled', '')", "NOTIFY"],
  ["DELETE FROM acts WHERE ctid IN (SELECT ctid FROM acts LIMIT 5)", "a system column"],
  ["SAVEPOINT effect_sql_1", "a savepoint"],
  ["ROLLBACK TO SAVEPOINT effect_sql_1", "a savepoint"],
  ["PREPARE TRANSACTION 'one'", "a transaction in two phases"],
  ["CREATE TABLE a (b int UNIQUE DEFERRABLE)", "a deferrable constraint"],
  ["ALTER TABLE a ADD CONSTRAINT c UNIQUE (b) DEFERRABLE INITIALLY DEFERRED", "a deferrable constraint"],
  ["CREATE TABLE a (b bigserial PRIMARY KEY)", "a sequence"],
  ["CREATE TABLE a (b int GENERATED ALWAYS AS IDENTITY)", "a sequence"],
  ["INSERT INTO a VALUES (nextval('b'))", "a sequence"],
  ["INSERT INTO a VALUES ($1) ON CONFLICT (lower(b)) DO NOTHING", "ON CONFLICT on an expression"],
  ["WITH x AS (UPDATE a SET b = 1 RETURNING b) UPDATE a SET b = 2", "a changed twice in a statement"],
  ["WITH x AS (DELETE FROM a RETURNING b) INSERT INTO a SELECT b FROM x", "a changed twice in a statement"],
  ["CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$", "a procedural language"],
  ["CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('b') $$", "a sequence"],
  ["DO $$ BEGIN END $$", "a procedural language"],
  ["CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()", "a trigger"],
  ["SET search_path = altar", "search_path set for a session"],
  ["CREATE TEMPORARY TABLE a (b int)", "a temporary table"],
  ["DECLARE c CURSOR FOR SELECT 1", "a cursor"],
]

const right = [
  "SELECT * FROM a WHERE b = $1 FOR UPDATE SKIP LOCKED",
  "INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO UPDATE SET b = excluded.b",
  "WITH x AS (UPDATE a SET b = 1 RETURNING b) INSERT INTO c SELECT b FROM x",
  "CREATE FUNCTION f(b int) RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT count(*)::int FROM a $$",
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  "BEGIN",
  "COMMIT",
]

const sources = filesIn(["src", "migrations"])

describe("the check for SQL that other engines lack", () => {
  it.each(wrong)("finds it in: %s", (statement, what) => {
    assert.include(violationsOf(statement), what)
  })

  it.each(right)("accepts: %s", (statement) => {
    assert.deepStrictEqual(violationsOf(statement), [])
  })

  it("finds it in a statement with holes, too", () => {
    const inSources = wrong.filter(([, what]) => !/set for|cursor|two phases|changed twice/u.test(what))
    const missed = inSources.filter(([statement, what]) => !wordsIn(`sql\`${statement}\``).includes(what))
    assert.deepStrictEqual(missed, [])
  })

  it("finds nothing in the sources", () => {
    const found = sources.flatMap((file) => wordsIn(textOf(file)).map((what) => `${file}: ${what}`))
    assert.deepStrictEqual(found, [])
  })

  it("finds nothing in the migrations, read by PostgreSQL's own parser", () => {
    const statements = sources
      .filter((file) => file.startsWith("migrations/"))
      .flatMap((file) =>
        // The only values in a migration's text are constants.
        [...textOf(file).matchAll(/sql`([^`]*)`/gu)].map(
          (match) => [file, (match[1] ?? "").replaceAll(/\$\{"0"[^}]*\}/gu, "'0'")] as const,
        ),
      )
    assert.isAbove(statements.length, 50)
    assert.deepStrictEqual(
      statements.flatMap(([file, statement]) => violationsOf(statement).map((what) => `${file}: ${what}`)),
      [],
    )
  })
})
