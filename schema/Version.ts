/** Version of the interface, as the document states it, for whoever needs the number without the contract. */
export const interfaceVersion = "0.15.0"
