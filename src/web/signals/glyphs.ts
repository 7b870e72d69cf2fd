/** The drawings of the room: the resting lamp and the four modes, 48 wide and high in the surrounding colour. */
export const glyphs: ReadonlyArray<readonly [name: string, shapes: string]> = [
  [
    "rest",
    `<path fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round" d="M18 24c4 2.5 8-1.5 12 0v15H18zM24 23c0-3 2-3 1.5-6M11 39h26"/>
      <path fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-dasharray="1 4" d="M25 12c-3-2 3-4 0-7"/>`,
  ],
  [
    "calm",
    `<path fill="currentColor" d="M10 25a14 14 0 0 1 28 0z"/>
      <path fill="none" stroke="currentColor" stroke-width="3.5" stroke-linecap="round" d="M4 32c5-4 8-4 13 0s9 4 14 0 8-4 13 0M9 40c4-3 7-3 10 0s7 3 10 0 6-3 10 0"/>`,
  ],
  [
    "spark",
    `<path fill="currentColor" d="M21 4c1.5 12 4 16 16 19-12 3-14.5 7-16 19-1.5-12-4-16-16-19C17 20 19.5 16 21 4zM38 4c.6 5 1.8 6.5 6 8-4.2 1.5-5.4 3-6 8-.6-5-1.8-6.5-6-8 4.2-1.5 5.4-3 6-8z"/>`,
  ],
  [
    "ping",
    `<circle fill="currentColor" cx="24" cy="24" r="5.5"/>
      <path fill="none" stroke="currentColor" stroke-width="3.5" stroke-linecap="round" d="M15.5 15.5a12 12 0 0 0 0 17M32.5 15.5a12 12 0 0 1 0 17M9 9a21.2 21.2 0 0 0 0 30M39 9a21.2 21.2 0 0 1 0 30"/>`,
  ],
  [
    "celebrate",
    `<path fill="currentColor" d="M5 44 15 18l15 15z"/>
      <path fill="none" stroke="currentColor" stroke-width="3.5" stroke-linecap="round" d="M22 16c3-3 3-7 1-11M32 26c4-2 8-1 11 2M28 20l9-9"/>
      <circle fill="currentColor" cx="34" cy="4.5" r="2.5"/>
      <circle fill="currentColor" cx="43" cy="17" r="2.5"/>
      <path fill="currentColor" d="m41 36 4 2-2 4-4-2zM10 7l4 2-2 4-4-2z"/>`,
  ],
]
