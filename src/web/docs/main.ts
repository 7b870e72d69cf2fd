/** The copy buttons of the reference and of the manual. */
import { start } from "../v2/page/copy.ts"

start()
