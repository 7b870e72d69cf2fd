/** Loads the code for paying and renewing on demand. */
import { arrived } from "../page/load.ts"

export const paying = () => arrived(import("./parts.ts"))
