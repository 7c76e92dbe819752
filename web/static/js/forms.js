// Forms: sending by keyboard and once, and the editor's buttons.
import { $$, on, control } from './dom.js'

// once lets a form be sent one time; a page that comes back may send again.
function once(e) {
  if (!e.target.hasAttribute('data-once')) return
  if (e.target.dataset.sent) e.preventDefault()
  e.target.dataset.sent = '1'
}

function byKeyboard(e) {
  if (e.key === 'Enter' && control(e) && e.target.hasAttribute?.('data-submit')) {
    e.preventDefault()
    e.target.form.requestSubmit(e.target.form.querySelector('button'))
  }
  if (e.key === 'Escape') {
    const pop = e.target.closest?.('details.pop[open]')
    if (pop) { pop.open = false; pop.querySelector('summary').focus() }
  }
}

// While a button of the editor waits for its answer no check is begun, which would take back its request (hx-sync).
function checking(e) {
  if (e.target.id === 'editor' && e.target.dataset.busy) e.preventDefault()
}

function editing(e) {
  const form = e.target.closest?.('#editor')
  if (form && e.target !== form) form.dataset.busy = '1'
}

export function start() {
  on('click', (e) => {
    for (const pop of $$('details.pop[open]')) if (!pop.contains(e.target)) pop.open = false
  })
  on('submit', once)
  on('keydown', byKeyboard)
  addEventListener('pageshow', () => $$('[data-sent]').forEach((f) => delete f.dataset.sent))
  on('htmx:confirm', checking)
  on('htmx:beforeRequest', editing)
  on('htmx:afterRequest', (e) => { if (e.target.id !== 'editor') delete e.target.closest?.('#editor')?.dataset.busy })
}
