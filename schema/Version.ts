/** Version of the interface (altar.md, Versioning), for whoever needs the number without the contract. */
export const interfaceVersion = "0.15.0"
