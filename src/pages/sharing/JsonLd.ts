/** Facts of a page for machines, as JSON-LD. */

export type Thing = { readonly [name: string]: string | number | Thing | ReadonlyArray<Thing> }

/** The subject of a page, with addresses below the public URL. */
export type About = (publicUrl: string) => ReadonlyArray<Thing>

/** The text of an inert script element; no character of it can end the element or begin another. */
export const jsonLd = (things: ReadonlyArray<Thing>): string =>
  JSON.stringify({ "@context": "https://schema.org", "@graph": things }).replace(
    /[<>&\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
