/** Hears of files that are chosen in a field or dropped on a place; the innermost place takes a drop. */
export const hearFiles = (input: HTMLInputElement, place: HTMLElement, take: (file: File) => void) => {
  input.addEventListener("change", () => {
    const [file] = input.files ?? []
    if (file !== undefined) take(file)
  })
  place.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault()
  })
  place.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer?.files ?? []
    if (file === undefined || event.defaultPrevented) return
    event.preventDefault()
    take(file)
  })
}
