/** Why a page may be unable to hash. */
export { canHash } from "../../../buyer/core/Digest.ts"

export const cannotHash = "This page was not loaded over https, so the browser gives it no means to hash."
