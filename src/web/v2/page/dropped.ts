/** Hears of files that are chosen in a field, or dropped on a place or the fold around it. */
export const hearFiles = (input: HTMLInputElement, place: HTMLElement, take: (file: File) => void) => {
  input.addEventListener("change", () => {
    const [file] = input.files ?? []
    if (file !== undefined) take(file)
  })
  const area = place.closest("details") ?? place
  area.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault()
  })
  area.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer?.files ?? []
    if (file === undefined) return
    event.preventDefault()
    area.toggleAttribute("open", area !== place)
    take(file)
  })
}
