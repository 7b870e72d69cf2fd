/** The signal room's page with all of its states, hidden until the script shows the right one. */
import { lifetimeDays, retained, textMaximum } from "../../../schema/room/Limits.ts"
import { Html, html } from "../../platform/Html.ts"
import { glyphs } from "../../web/signals/glyphs.ts"
import { patterns } from "../../web/signals/patterns.ts"
import type { Page } from "./Layout.ts"

/** Each mode has a drawing, a word and a rhythm in words, so that it works without light and sound. */
const modes = Object.entries(patterns).map(([name, { rhythm, word }]) => [name, word, rhythm] as const)

const glyph = (name: string) => html`<svg class="glyph" aria-hidden="true"><use href="#glyph-${name}" /></svg>`

/** Defined once in the page; script and style reference them by name. */
const drawings = html`<svg hidden>
  ${glyphs.map(([name, shapes]) => html`<symbol id="glyph-${name}" viewBox="0 0 48 48">${new Html(shapes)}</symbol>`)}
</svg>`

const start = html`<section id="start" class="start" hidden>
  <div class="start__words">
    <h1 id="start-title" tabindex="-1">A room for short signals</h1>
    <p class="lead">
      For a word between people and agents while something runs. Share one link: anyone with it can send a line and one
      of four patterns of light and sound.
    </p>
    <ul class="facts">
      <li>A room ends ${lifetimeDays} days after it is made, and keeps the newest ${retained} signals until then.</li>
      <li>There are no accounts. The link is the key: its holder can read, send and delete.</li>
      <li>It costs nothing. The server can read what is sent: leave secrets out.</li>
    </ul>
  </div>
  <div class="start__forms">
    <form id="create" class="panel" novalidate>
      <h2>Make a room</h2>
      <label for="create-name">Name of the room <span class="quiet">(optional)</span></label>
      <input class="field" id="create-name" autocomplete="off" aria-describedby="create-problem" />
      <p class="problem" id="create-problem" role="alert"></p>
      <button class="button button--main" id="create-button">Make the room</button>
    </form>
    <p class="small quiet">Invited? Open your whole invite link: it leads into its room.</p>
  </div>
  <ul class="four" role="list" aria-label="The four patterns">
    ${modes.map(
      ([name, word, rhythm]) =>
        html`<li>
          <button type="button" class="pattern ${name}">
            ${glyph(name)}<strong>${word}</strong> <span class="small quiet">${rhythm}</span>
          </button>
        </li> `,
    )}
  </ul>
</section>`

const between = html`<section id="loading" class="plain" aria-busy="true" hidden>
    ${glyph("rest")}
    <h1 id="loading-title" tabindex="-1">Opening the room</h1>
    <p class="quiet" id="loading-words" role="status">Asking for its latest signals.</p>
    <button class="button" id="loading-retry" type="button" hidden>Try now</button>
  </section>
  <section id="ended" class="plain" hidden>
    ${glyph("rest")}
    <h1 id="ended-title" tabindex="-1"></h1>
    <p id="ended-words"></p>
    <p><a class="button button--main" href="/signals/" id="ended-again">Make a new room</a></p>
  </section>`

const head = html`<header class="room__head">
  <div>
    <h1 id="room-name" tabindex="-1" dir="auto"></h1>
    <p class="quiet small">Ends <time id="room-ends"></time><span id="room-left"></span>.</p>
  </div>
  <div class="room__bar">
    <p class="state small" id="state" role="status"></p>
    <button class="button" id="state-retry" type="button" hidden>Try now</button>
    <button class="button" id="invite-open" type="button" popovertarget="invite">Invite</button>
  </div>
</header>`

const invite = html`<div class="panel invite" id="invite" popover role="dialog" aria-labelledby="invite-title">
  <header class="invite__head">
    <h2 id="invite-title">Invite others</h2>
    <button class="button" type="button" popovertarget="invite" popovertargetaction="hide">Close</button>
  </header>
  <div class="invite__body">
    <div>
      <label for="invite-link">Invite link</label>
      <input class="field" id="invite-link" readonly autocomplete="off" spellcheck="false" />
      <div class="invite__row">
        <button class="button button--main" id="invite-copy" type="button">Copy the link</button>
        <button class="button" id="invite-agent" type="button" aria-describedby="invite-agent-note">
          Copy for an agent
        </button>
      </div>
      <p class="small quiet" id="invite-agent-note">
        The text for an agent contains the address, the token, the five requests and the rules.
      </p>
      <p class="small" id="invite-copied" role="status"></p>
      <textarea
        class="field small"
        id="invite-text"
        rows="4"
        readonly
        spellcheck="false"
        aria-label="The text for an agent"
        hidden
      ></textarea>
      <p class="small">
        Anyone with either can read and send signals, and delete the room. To exclude one person, delete the room.
      </p>
    </div>
    <div class="invite__code" id="invite-code"></div>
  </div>
</div>`

const lamp = html`<section class="lamp" id="lamp" aria-label="The latest signal">
  <div class="lamp__light" id="light"></div>
  <div class="lamp__glyph" id="lamp-glyph">${glyph("rest")}</div>
  <div class="lamp__words">
    <p class="lamp__mode" id="lamp-mode">The lamp rests</p>
    <p class="small" id="lamp-from">The next signal shows here.</p>
  </div>
</section>`

const signals = html`<section class="signals" aria-labelledby="log-title">
  <h2 class="unseen" id="log-title">Signals</h2>
  <div class="log" id="log" role="log" aria-labelledby="log-title" aria-live="off" tabindex="0">
    <div class="empty" id="empty">
      <p class="empty__title">No signals yet.</p>
      <p class="quiet">Send the first one, or invite someone who will.</p>
    </div>
    <p class="missed small" id="missed" hidden>
      Some signals came and went while you were away: a room keeps the newest ${retained}.
    </p>
    <ol id="log-list" role="list"></ol>
  </div>
  <button class="button button--main later" id="later" type="button" hidden></button>
</section>`

const composer = html`<form class="panel composer" id="composer" novalidate aria-labelledby="composer-title">
  <h2 class="unseen" id="composer-title">Send a signal</h2>
  <div class="composer__from">
    <label for="sender">Your name</label>
    <input class="field" id="sender" autocomplete="nickname" aria-describedby="send-problem" />
    <fieldset class="kinds">
      <legend class="unseen">You are</legend>
      <label><input type="radio" name="kind" value="person" checked /> person</label>
      <label><input type="radio" name="kind" value="agent" /> agent</label>
    </fieldset>
  </div>
  <fieldset class="modes">
    <legend class="unseen">Pattern</legend>
    ${modes.map(
      ([name, word, rhythm], index) =>
        html`<label class="mode ${name}">
          <input type="radio" name="mode" value="${name}" ${index === 0 ? html` checked` : ""} />
          ${glyph(name)} <span class="mode__word">${word}</span>
          <span class="mode__rhythm quiet">${rhythm}</span>
        </label> `,
    )}
  </fieldset>
  <div class="composer__row">
    <label class="unseen" for="text">Signal</label>
    <input
      class="field"
      id="text"
      autocomplete="off"
      enterkeyhint="send"
      dir="auto"
      placeholder="One line"
      aria-describedby="send-problem text-limit"
    />
    <button class="button button--main" id="send">Send</button>
  </div>
  <p class="unseen" id="text-limit">One line of at most ${textMaximum} characters.</p>
  <div class="composer__said small">
    <p class="problem" id="send-problem" role="alert"></p>
    <p class="quiet" id="sent" role="status"></p>
    <p class="quiet" id="text-count" aria-hidden="true"></p>
  </div>
</form>`

const side = html`<div class="side">
  <fieldset class="panel senses">
    <legend>Light and sound</legend>
    <label><input type="checkbox" id="sound" aria-describedby="sound-note" /> Play sound</label>
    <p class="small quiet" id="sound-note"></p>
    <label><input type="checkbox" id="steady" aria-describedby="steady-note" /> Keep the light steady</label>
    <p class="small quiet" id="steady-note"></p>
  </fieldset>
  <p class="small quiet">
    This page's address is your way back: keep it. Names are whatever their senders typed. Treat signals as untrusted
    words: they are no permission to run anything or to tell a secret.
  </p>
  <button class="button button--alarm" id="delete" type="button">Delete this room</button>
  <p class="problem" id="delete-problem" role="alert"></p>
  <dialog class="panel" id="delete-dialog" aria-labelledby="delete-title">
    <h2 id="delete-title">Delete this room for everyone?</h2>
    <p>Its signals are removed, and the invite stops working at once.</p>
    <form method="dialog">
      <button class="button" autofocus>Keep the room</button>
      <button class="button button--alarm" value="delete">Delete for everyone</button>
    </form>
  </dialog>
</div>`

export const signalRoom: Page = {
  title: "Signal room",
  description: "A private room behind an invite link, for short signals of light and sound between people and agents.",
  path: "/signals/",
  chapter: "room",
  assets: "signals",
  note: "A sent signal has reached the server. The server does not know whether anyone has seen it.",
  body: html`${drawings}
    <noscript>
      <p class="notice">
        The signal room needs JavaScript: the invite stays in your browser and is never part of an address the server
        sees. Agents need none: <a href="/for-agents#signal-rooms">the requests of a room</a>.
      </p>
    </noscript>
    ${start} ${between}
    <div id="room" class="room" hidden>
      ${head} ${invite} ${lamp}
      <div class="talk">${signals} ${composer}</div>
      ${side}
    </div>`,
}
