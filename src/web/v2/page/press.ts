/** Loads the code behind buttons when one of them is pressed, and then presses it again. */

/** `attach` loads the code and gives the buttons of all places their listeners; `fail` shows why it could not. */
export const onPress = (
  places: ReadonlyArray<HTMLElement>,
  attach: () => Promise<void>,
  fail: (place: HTMLElement, error: unknown, again: () => void) => void,
): (() => Promise<void>) => {
  const attached = new AbortController()
  let attaching: Promise<void> | undefined
  const open = (): Promise<void> => {
    attaching ??= attach().then(
      () => attached.abort(),
      (error: unknown) => {
        attaching = undefined
        return Promise.reject(error)
      },
    )
    return attaching
  }
  const press = (place: HTMLElement, button: HTMLButtonElement): void =>
    void open().then(
      () => button.click(),
      (error: unknown) => fail(place, error, () => press(place, button)),
    )
  const hear = (event: Event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null
    if (button === null || button.closest(".again") !== null || !(event.currentTarget instanceof HTMLElement)) return
    event.preventDefault()
    press(event.currentTarget, button)
  }
  for (const place of places) place.addEventListener("click", hear, { signal: attached.signal })
  return open
}
