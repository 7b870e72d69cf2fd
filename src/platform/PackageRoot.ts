/** The package's root: two folders above this module in a checkout, above its bundle, and when packed. */
export const packageRoot = new URL("../../", import.meta.url)
