/** Where the package lies: two folders above this module in the checkout, above its bundle, and when packed. */
export const packageRoot = new URL("../../", import.meta.url)
