/** What bounds a room, as plain numbers: pages and documents read them without the schemas. */

/** Days from creation to the end; sending does not extend them. */
export const lifetimeDays = 7

/** Messages a room keeps, the newest. */
export const retained = 50

/** Code points of a room's name, a sender's name and a message. */
export const nameMaximum = 60
export const senderMaximum = 40
export const textMaximum = 160

/** Seconds between two reads of somebody who waits. */
export const pace = 3
