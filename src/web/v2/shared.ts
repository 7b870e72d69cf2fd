/** What every page has already. Each part that is fetched later names all of it, so that it is one file and not one for each pair of parts. */
import "./pay/form.ts"
import "./reveals.ts"
import "./time.ts"
import "./verify.ts"
