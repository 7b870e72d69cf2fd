/** The limits of a room as plain numbers, readable without the schemas. */

/** Days from a room's creation to its end; sending does not extend them. */
export const lifetimeDays = 7

/** Maximum messages in a room; the oldest go first. */
export const retained = 50

/** Maximum code points of a room's name, a sender's name and a message. */
export const nameMaximum = 60
export const senderMaximum = 40
export const textMaximum = 160

/** Seconds between two polls. */
export const pace = 3
