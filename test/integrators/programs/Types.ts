/** Claims about types that the compiler checks: a name or a member that the document loses breaks the build. */

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only when both types are one. */
export const same = <A, B>(_proof: Same<A, B>): void => {}

export type Spirit =
  | "moss-hare"
  | "static-fox"
  | "rain-crow"
  | "library-moth"
  | "glass-tortoise"
  | "midnight-otter"
  | "lantern-axolotl"
  | "drift-albatross"
  | "moon-gecko"
  | "frost-stoat"
  | "dew-spider"
  | "kelp-seal"
  | "slate-lynx"
  | "dune-pangolin"
  | "lichen-yak"
  | "compass-beetle"
  | "silt-salamander"
  | "quartz-elephant"
  | "ink-cuttlefish"
  | "ribbon-eel"
  | "orchard-dormouse"
  | "atlas-sandpiper"
  | "cloud-tapir"
  | "brass-cicada"

export type Kind = "intention" | "prediction" | "promise" | "hash"

/** The refusals of a stone, distinguished by code. */
export type Refused =
  | "bad_request"
  | "idempotency_key_required"
  | "idempotency_key_invalid"
  | "payment_required"
  | "payment_invalid"
  | "payment_failed"
  | "not_acceptable"
  | "idempotency_conflict"
  | "payment_authorization_already_bound"
  | "reconcile_required"
  | "witness_ceiling_today"
  | "too_large"
  | "unsupported_media_type"
  | "commitment_refused"
  | "rate_limited"
  | "internal"
  | "payments_unavailable"
  | "facilitator_unavailable"
  | "selling_paused"
  | "unavailable"

export type RoomRefused =
  | "BAD_REQUEST"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "EXPIRED"
  | "TOO_LARGE"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE"
