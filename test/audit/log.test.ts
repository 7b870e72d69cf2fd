/** Both hash chains and the transparency log: a history that was changed is found. */
import { origin } from "../lab/log/LogFixture.ts"
import { auditing, type Fault, type Lie } from "./fixture/AuditFaults.ts"
import type { GivenAnswer } from "./Given.ts"

/** All stones hashed anew from the first one on, as whoever rewrites history does. */
const rehash = `
  CREATE FUNCTION link(text, bigint, text, text, text) RETURNS text LANGUAGE sql AS $$
    SELECT encode(sha256(convert_to($1, 'UTF8') || '\\x00' || convert_to($2::text, 'UTF8') || '\\x00' ||
      convert_to($3, 'UTF8') || '\\x00' || convert_to($4, 'UTF8') || '\\x00' || convert_to($5, 'UTF8')), 'hex') $$;
  WITH RECURSIVE anew AS (
    SELECT 0::bigint AS sequence, ''::text AS previous, repeat('0', 64) AS hash
    UNION ALL SELECT s.sequence, a.hash, link(a.hash, s.sequence, s.commitment, s.witnessed_at, s.transaction)
    FROM anew a JOIN witness_stones s ON s.sequence = a.sequence + 1
  ) UPDATE witness_stones s SET previous_hash = a.previous, chain_hash = a.hash FROM anew a WHERE a.sequence = s.sequence;
  UPDATE witness_head SET chain_hash = (SELECT chain_hash FROM witness_stones ORDER BY sequence DESC LIMIT 1)`

const faults: ReadonlyArray<Fault> = [
  [
    "a stone with another hash",
    "UPDATE witness_stones SET chain_hash = repeat('7', 64) WHERE sequence = 2",
    "the chain of /api/witness/chain follows and hashes from its genesis",
  ],
  [
    "a stone that was lost",
    "DELETE FROM witness_stones WHERE sequence = 2",
    "the chain of /api/witness/chain follows and hashes from its genesis",
  ],
  [
    "a head that went back",
    "UPDATE witness_head SET sequence = 2, chain_hash = (SELECT chain_hash FROM witness_stones WHERE sequence = 2)",
    "the stones are the settled ones",
  ],
  [
    "a history that was rewritten",
    `UPDATE witness_stones SET commitment = repeat('7', 64) WHERE sequence = 1; ${rehash}`,
    "a checkpoint is signed, and of the stones as they are",
  ],
  [
    "a publication of another keeper",
    "UPDATE publications SET keeper = '0x' || repeat('7', 40) WHERE type = 'edition'",
    "the chain of /api/publish-chain follows and hashes from its genesis",
  ],
  [
    "a publication that was lost",
    "DELETE FROM publications WHERE sequence = (SELECT max(sequence) FROM publications); UPDATE publication_head SET sequence = p.sequence, chain_hash = p.chain_hash FROM (SELECT * FROM publications ORDER BY sequence DESC LIMIT 1) p",
    "the publications are the settled editions",
  ],
  [
    "a tile of the log with another hash",
    "UPDATE log_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0))",
    "the log's files are those of its stones",
  ],
  [
    "a checkpoint of another tree",
    "UPDATE log_checkpoints SET root = decode(repeat('77', 32), 'hex')",
    "every stone is in the log",
  ],
  ["a log that stopped", "UPDATE log_head SET stopped_reason = 'x', stopped_at = now()", "every stone is in the log"],
]

/** An answer of a status to a paid request. */
const paid = (status: number) => (answer: GivenAnswer) => answer.status === status && answer.key !== null

const lies: ReadonlyArray<Lie> = [
  [
    "a checkpoint of another key",
    paid(201),
    (answer) => ({
      ...answer,
      url: `${answer.server}/log/checkpoint`,
      key: null,
      status: 200,
      body: `${origin}\n9\n${"A".repeat(43)}=\n\n— ${origin} AAAA\n`,
    }),
    "every checkpoint and proof that was ever given is of the log",
  ],
  [
    "a link that is not in the chain",
    paid(201),
    (answer) => ({
      ...answer,
      url: `${answer.server}/api/witness/chain`,
      key: null,
      status: 200,
      body: JSON.stringify({ entries: [{ sequence: 1, chainHash: "7".repeat(64) }] }),
    }),
    "every link that was ever shown is in its chain",
  ],
]

auditing("the chains and the log", faults, lies)
