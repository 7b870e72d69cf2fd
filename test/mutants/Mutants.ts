/** Deliberate faults, each one edit of a source, and the tests most likely to notice it. */

export interface Mutant {
  /** What the program no longer does, or does wrongly. */
  readonly fault: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly from: string
  readonly to: string
  /** Tests that are run until one fails; the cheapest first. */
  readonly tests: readonly [string, ...ReadonlyArray<string>]
}

export const mutants: ReadonlyArray<Mutant> = [
  // What a payment has to be before it is claimed.
  {
    fault: "an authorization for another recipient is accepted",
    file: "src/payments/x402/OfferMatch.ts",
    from: "if (!sameAddress(signed.authorization.to, terms.payTo)) {",
    to: "if (!sameAddress(signed.authorization.to, signed.authorization.to)) {",
    tests: ["test/payments/refusals.test.ts"],
  },
  {
    fault: "an authorization for more than the price is accepted",
    file: "src/payments/x402/OfferMatch.ts",
    from: "BigInt(signed.authorization.value) !== sale.amountAtomic",
    to: "BigInt(signed.authorization.value) < sale.amountAtomic",
    tests: ["test/payments/refusals.test.ts"],
  },
  {
    fault: "a payment that names another URL is accepted",
    file: "src/payments/x402/OfferMatch.ts",
    from: "if (resource.url !== sale.url)",
    to: "if (resource.url === '')",
    tests: ["test/payments/refusals.test.ts"],
  },
  {
    fault: "an authorization may live as long as it likes",
    file: "src/payments/x402/OfferMatch.ts",
    from: "authorization.validBefore > now + longestLife(terms)",
    to: "authorization.validBefore < 0n",
    tests: ["test/payments/refusals.test.ts"],
  },
  {
    fault: "a signature of anybody is plausible",
    file: "src/payments/x402/Verifier.ts",
    from: "if (!(yield* signatures.plausible(authorization, terms)))",
    to: "if (!(yield* Effect.as(signatures.plausible(authorization, terms), true)))",
    tests: ["test/payments/forgeries.test.ts"],
  },
  // What is claimed.
  {
    fault: "a key may be used for another request",
    file: "src/payments/PaymentPipeline.ts",
    from: "attempt.fingerprint === fingerprint ? answerOf",
    to: "attempt.fingerprint !== '' ? answerOf",
    tests: ["test/payments/conflicts.test.ts"],
  },
  {
    fault: "the fingerprint leaves the body out",
    file: "src/payments/PaidRequest.ts",
    from: "${request.url}\\n${canonicalJson(body)}",
    to: "${request.url}\\n${canonicalJson({}) + String(body).slice(0, 0)}",
    tests: ["test/payments/conflicts.test.ts"],
  },
  {
    fault: "the authorization is not claimed",
    file: "src/payments/ledger/Claim.ts",
    from: "[...claims.slots, claimOf(payment)].sort()",
    to: "[...claims.slots, ...(claimOf(payment) === '' ? [''] : [])].sort()",
    tests: ["test/payments/conflicts.test.ts", "test/concurrency/stones.test.ts"],
  },
  {
    fault: "a wallet may have more in flight than it holds",
    file: "src/payments/ledger/Claim.ts",
    from: "ELSE payment_fits(p.name, a.draws, a.balance, a.since, m.most - a.before) END",
    to: "ELSE payment_fits(p.name, a.draws, a.balance, a.since, m.most - a.before) IS NOT NULL END",
    tests: ["test/concurrency/claims.test.ts"],
  },
  {
    fault: "a pool gives out one number too many",
    file: "src/payments/ledger/Claim.ts",
    from: "<= (SELECT max(r.capacity) FROM ranked r",
    to: "<= 1 + (SELECT max(r.capacity) FROM ranked r",
    tests: ["test/concurrency/claims.test.ts"],
  },
  {
    fault: "a failed attempt keeps its slot",
    file: "src/payments/ledger/Fail.ts",
    from: "WHERE c.attempt_id = e.id",
    to: "WHERE c.attempt_id = e.id AND c.name LIKE 'authorization:%'",
    tests: ["test/concurrency/endings.test.ts", "test/crash/acts.test.ts"],
  },
  {
    fault: "a failed attempt keeps its number",
    file: "src/payments/ledger/Fail.ts",
    from: "SET released = (SELECT array_agg(n ORDER BY n) FROM unnest(p.released || e.pool_number) AS n)",
    to: "SET released = p.released",
    tests: ["test/concurrency/endings.test.ts"],
  },
  // What counts as evidence.
  {
    fault: "a transfer of any amount pays",
    file: "src/payments/x402/Eip3009.ts",
    from: "BigInt(next.data) === value",
    to: "BigInt(next.data) >= 0n * value",
    tests: ["test/fast/eip3009.test.ts"],
  },
  {
    fault: "a transfer to anybody pays",
    file: "src/payments/x402/Eip3009.ts",
    from: "[transferTopic, wordTopic(from), wordTopic(to)]",
    to: "[transferTopic, wordTopic(from)].filter(() => to !== '0x')",
    tests: ["test/fast/eip3009.test.ts"],
  },
  {
    fault: "a transaction that reverted pays",
    file: "src/payments/x402/Evidence.ts",
    from: "succeeded && pays(logs, authorization)",
    to: "(succeeded || !succeeded) && pays(logs, authorization)",
    tests: ["test/fast/evidence-table.test.ts"],
  },
  {
    fault: "a missing receipt is taken for a cancellation",
    file: "src/payments/x402/Evidence.ts",
    from: "if (receipt === undefined) return nothing",
    to: 'if (receipt === undefined) return { _tag: "Void", reason: "authorization_canceled" }',
    tests: ["test/fast/evidence-table.test.ts"],
  },
  {
    fault: "a cancellation counts before its block is final",
    file: "src/payments/x402/Evidence.ts",
    from: "return (yield* isFinal(receipt.block))",
    to: "return (yield* Effect.as(isFinal(receipt.block), true))",
    tests: ["test/fast/evidence-table.test.ts"],
  },
  {
    fault: "the newest block judges whether an authorization is over",
    file: "src/payments/x402/Evidence.ts",
    from: "const isOver = final.timestamp >= authorization.validBefore",
    to: "const isOver = newest.timestamp >= authorization.validBefore",
    tests: ["test/fast/evidence-table.test.ts", "test/payments/evidence.test.ts"],
  },
  {
    fault: "two looks at once agree that an attempt failed",
    file: "src/payments/Reconciler.ts",
    from: "before?.reason === inquiry.verdict && before.ageMillis >= apart",
    to: "before?.reason === inquiry.verdict && before.ageMillis >= -apart",
    tests: ["test/payments/repeated-inquiries.test.ts"],
  },
  {
    fault: "a facilitator's refusal is believed, whatever the chain says",
    file: "src/payments/Reconciler.ts",
    from: "evidence.unused && evidence.reverts ? (refusal ?? undefined) : undefined",
    to: "evidence._tag ? (refusal ?? undefined) : undefined",
    tests: ["test/payments/repeated-inquiries.test.ts"],
  },
  {
    fault: "a settled transfer is final as soon as it is seen",
    file: "src/payments/Finality.ts",
    from: "const isFinal = !isEarly && (yield* chain.isFinal(evidence.block))",
    to: "const isFinal = !isEarly && (yield* Effect.as(chain.isFinal(evidence.block), true))",
    tests: ["test/payments/finality.test.ts"],
  },
  {
    fault: "two looks at once agree that a payment is lost",
    file: "src/payments/Finality.ts",
    from: "return pendingLoss?.reason === evidence.reason && pendingLoss.ageMillis >= apart",
    to: "return pendingLoss?.reason === evidence.reason && pendingLoss.ageMillis >= -apart",
    tests: ["test/payments/finality.test.ts"],
  },
  // What is answered.
  {
    fault: "a replay has other bytes than the first answer",
    file: "src/payments/PaidHttp.ts",
    from: '`${answer.slice(0, -"false}".length)}true}`',
    to: '`${answer.slice(0, -"false}".length)} true}`',
    tests: ["test/payments/paid.test.ts"],
  },
  {
    fault: "what is pending is answered as failed",
    file: "src/payments/PaymentPipeline.ts",
    from: 'return Effect.succeed({ _tag: "Pending", attempt })',
    to: 'return challenges.failed({ ...attempt, state: "failed", reason: "unknown" })',
    tests: ["test/payments/repeated-inquiries.test.ts"],
  },
  {
    fault: "a client that hangs up stops its settlement",
    file: "src/payments/PaymentPipeline.ts",
    from: `const fiber = yield* FiberSet.run(settling, settle(act, request, terms, intent))
          return yield* Fiber.join(fiber)`,
    to: `void [FiberSet, Fiber, settling]
          return yield* settle(act, request, terms, intent)`,
    tests: ["test/payments/faults-network.test.ts"],
  },
  {
    fault: "settled acts are not counted",
    file: "src/payments/ledger/Settle.ts",
    from: "UPDATE payment_totals SET settled = settled + ${open.length}::bigint,",
    to: "UPDATE payment_totals SET settled = settled + 0 * ${open.length}::bigint,",
    tests: ["test/altar/reads.test.ts"],
  },
  // The chains.
  {
    fault: "a link is served though it does not hash",
    file: "src/altar/HashChain.ts",
    from: 'if (!hashes) return broken(link.sequence, "does not hash to its chainHash")',
    to: 'if (!hashes && link.sequence < 0) return broken(link.sequence, "does not hash to its chainHash")',
    tests: ["test/altar/kept-reads.test.ts", "test/altar/witness.test.ts"],
  },
  {
    fault: "a link does not hash its transaction",
    file: "schema/altar/ChainLink.ts",
    from: "\\0${link.witnessedAt}\\0${link.transaction}`",
    to: "\\0${link.witnessedAt}\\0`",
    tests: ["test/altar/witness.test.ts"],
  },
  {
    fault: "the time of the stones may run back",
    file: "src/altar/StoredChain.ts",
    from: "`greatest(clock_timestamp(), ${newest})`",
    to: "`clock_timestamp()`",
    tests: ["test/altar/clock.test.ts"],
  },
  {
    fault: "words are revealed that do not hash to their commitment",
    file: "src/altar/witness/Reveal.ts",
    from: "if (!matches) return yield* new CommitmentMismatch({})",
    to: "if (!matches && body.text === '') return yield* new CommitmentMismatch({})",
    tests: ["test/altar/witness.test.ts"],
  },
  {
    fault: "a kept read is not compared with its rows",
    file: "src/platform/KeptReads.ts",
    from: "if (known !== undefined && known.tag === first.tag) {",
    to: "if (known !== undefined) {",
    tests: ["test/altar/kept-reads.test.ts"],
  },
  {
    fault: "a prayer may be laid for another day",
    file: "src/altar/prayers/Prayers.ts",
    from: "input.day !== undefined && input.day !== day",
    to: "input.day !== undefined && day === ''",
    tests: ["test/altar/acts.test.ts"],
  },
  {
    fault: "a name that an operator hides is still shown",
    file: "src/altar/Moderation.ts",
    from: "yield* acts.show(id, name, yield* changed(act.record, { agentName: name }))",
    to: "yield* acts.show(id, act.agentName, act.record)",
    tests: ["test/admin/administration.test.ts"],
  },
  // The transparency log.
  {
    fault: "leaves are hashed like nodes",
    file: "schema/log/Merkle.ts",
    from: "const leafPrefix = Uint8Array.of(0)",
    to: "const leafPrefix = Uint8Array.of(1)",
    tests: ["test/fast/log-tree.test.ts"],
  },
  {
    fault: "the tree is split in the wrong place",
    file: "schema/log/Merkle.ts",
    from: "while (left * 2 < size) left *= 2",
    to: "while (left * 4 < size) left *= 2",
    tests: ["test/fast/log-tree.test.ts", "test/log/proofs.test.ts"],
  },
  {
    fault: "a checkpoint goes back",
    file: "src/log/Publisher.ts",
    from: "if (before.size > tree.size) {",
    to: "if (before.size > tree.size) continue\n            if (before.size < 0) {",
    tests: ["test/log/publisher.test.ts"],
  },
  {
    fault: "a checkpoint is signed that does not continue the last one",
    file: "src/log/Publisher.ts",
    from: "if (proof === undefined || !extendsTree(before, tree, proof)) {",
    to: "if (proof === undefined || (!extendsTree(before, tree, proof) && before.size < 0)) {",
    tests: ["test/log/publisher.test.ts"],
  },
  {
    fault: "the log goes on behind a stone that was changed",
    file: "src/log/Integrator.ts",
    from: "!equal(leafOf(entryOf(known)), leaf))) {",
    to: "leafOf(entryOf(known)).length !== leaf.length)) {",
    tests: ["test/log/publisher.test.ts"],
  },
  {
    fault: "the log serves what no checkpoint covers",
    file: "src/log/PublishedLog.ts",
    from: "return wanted.width > widthAt(published.size, wanted) ?",
    to: "return wanted.width > widthAt(published.size + 512, wanted) ?",
    tests: ["test/log/served.test.ts"],
  },
  {
    fault: "a reader believes a checkpoint that nobody signed",
    file: "src/buyer/log/SignedCheckpoint.ts",
    from: "verdicts.length > 0 && verdicts.every(Boolean)",
    to: "verdicts.every((one) => one || !one)",
    tests: ["test/fast/log-signatures.test.ts", "test/log/served.test.ts"],
  },
  // The buyer.
  {
    fault: "a buyer signs for more than the price it knows",
    file: "src/buyer/core/Expectation.ts",
    from: "if (amount !== amountAtomic)",
    to: "if (amount < amountAtomic)",
    tests: ["test/fast/purchase.test.ts", "test/fast/hostile-altar.test.ts"],
  },
  // Limits and rooms.
  {
    fault: "a window in PostgreSQL takes one request too many",
    file: "src/limits/Windows.ts",
    from: "${hits}[cardinality(${hits}) - ${window.quota} + ${count}]`\n            return",
    to: "${hits}[cardinality(${hits}) - ${window.quota + 1} + ${count}]`\n            return",
    tests: ["test/limits/windows.test.ts"],
  },
  {
    fault: "a window in memory ends a millisecond late",
    file: "src/limits/Windows.ts",
    from: "hits.findIndex((hit) => hit > at - window.seconds * 1000)",
    to: "hits.findIndex((hit) => hit >= at - window.seconds * 1000)",
    tests: ["test/limits/windows.test.ts"],
  },
  {
    fault: "addresses are pseudonyms without a secret",
    file: "src/limits/ClientAddress.ts",
    from: 'createHmac("sha256", Redacted.value(secret))',
    to: 'createHmac("sha256", Redacted.value(secret).slice(0, 0))',
    tests: ["test/limits/privacy.test.ts"],
  },
  {
    fault: "each address of an IPv6 network has limits of its own",
    file: "src/limits/Address.ts",
    from: ".slice(0, 4)",
    to: ".slice(0, 8)",
    tests: ["test/fast/address.test.ts"],
  },
  {
    fault: "a forwarding header of anybody is believed",
    file: "src/limits/Address.ts",
    from: "if (!isTrusted(trusted, peer)) return text(peer)",
    to: "if (!isTrusted(trusted, peer) && trusted.length < 0) return text(peer)",
    tests: ["test/fast/address.test.ts"],
  },
  {
    fault: "any token opens any room",
    file: "src/room/Invites.ts",
    from: 'sql`sha256(token_digest || ${named("blind")}::bytea) = ${proof}`',
    to: 'sql`length(sha256(token_digest || ${named("blind")}::bytea)) = length(${proof})`',
    tests: ["test/room/refusals.test.ts"],
  },
  {
    fault: "a room keeps one message too few",
    file: "src/room/PostStatement.ts",
    from: "const ring = sql.literal(String(retained))",
    to: "const ring = sql.literal(String(retained - 1))",
    tests: ["test/room/room.test.ts"],
  },
  {
    fault: "a room does not say when a cursor missed a message",
    file: "src/room/ReadMessages.ts",
    from: "after < room.latestSequence - retained",
    to: "after + 1 < room.latestSequence - retained",
    tests: ["test/room/room.test.ts"],
  },
  {
    fault: "a clientId answers its first message, whatever is sent",
    file: "src/room/PostStatement.ts",
    from: "WHEN content_keys[original] = content_key THEN 'replay'",
    to: "WHEN original IS NOT NULL THEN 'replay'",
    tests: ["test/room/room.test.ts"],
  },
  {
    fault: "a room lives beyond its seven days",
    file: "src/room/Rows.ts",
    from: "return row.expired ? Result.fail",
    to: "return row.expired && row.id === '' ? Result.fail",
    tests: ["test/room/room.test.ts"],
  },
]
