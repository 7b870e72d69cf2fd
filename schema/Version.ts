/** The version of the interface, importable without the contract. */
export const interfaceVersion = "0.15.0"
