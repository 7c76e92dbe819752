// Forms: the colours, examples that fill the question, sending by keyboard and once, and the editor.

function themes(form) {
  form.addEventListener('submit', (e) => {
    e.preventDefault()
    const theme = e.submitter.value
    document.cookie = `theme=${theme}; Path=/; Max-Age=31536000; SameSite=Lax`
    document.documentElement.dataset.theme = theme
    for (const b of form.querySelectorAll('button')) b.setAttribute('aria-pressed', String(b === e.submitter))
  })
}

function fill(e) {
  const link = e.target.closest('[data-fill]')
  const box = document.getElementById('question')
  if (!link || !box || e.ctrlKey || e.metaKey || e.shiftKey) return
  e.preventDefault()
  box.value = link.dataset.fill
  box.focus()
  box.scrollIntoView({ block: 'center' })
}

// once lets a form be sent one time; a page that comes back from the browser's cache may send again.
function once(e) {
  if (!e.target.hasAttribute('data-once')) return
  if (e.target.dataset.sent) e.preventDefault()
  e.target.dataset.sent = '1'
}

function byKeyboard(e) {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && e.target.hasAttribute?.('data-submit')) {
    e.preventDefault()
    e.target.form.requestSubmit(e.target.form.querySelector('button'))
  }
  if (e.key === 'Escape') {
    const pop = e.target.closest?.('details.pop[open]')
    if (pop) { pop.open = false; pop.querySelector('summary').focus() }
  }
}

// A button of the editor goes before what is being typed: htmx gives up the check that is on its way (hx-sync). While the
// button's answer is awaited no check is begun, and it is stopped before hx-sync could take back the button's request.
function checking(e) {
  if (e.target.id === 'editor' && e.target.dataset.busy) e.preventDefault()
}

function editing(e) {
  const form = e.target.closest?.('#editor')
  if (form && e.target !== form) form.dataset.busy = '1'
}

// Leaving with unsaved changes asks first.
let leaving = false

function unsaved() {
  return document.getElementById('editor')?.dataset.changed === 'true'
}

export function start() {
  document.querySelectorAll('[data-themes]').forEach(themes)
  document.addEventListener('click', fill)
  document.addEventListener('click', (e) => {
    for (const pop of document.querySelectorAll('details.pop[open]')) if (!pop.contains(e.target)) pop.open = false
  })
  document.addEventListener('submit', once)
  document.addEventListener('keydown', byKeyboard)
  addEventListener('pageshow', () => document.querySelectorAll('[data-sent]').forEach((f) => delete f.dataset.sent))
  document.addEventListener('htmx:confirm', checking)
  document.addEventListener('htmx:beforeRequest', editing)
  document.addEventListener('htmx:afterRequest', (e) => { if (e.target.id !== 'editor') delete e.target.closest?.('#editor')?.dataset.busy })
  document.addEventListener('input', (e) => { const f = e.target.closest('#editor'); if (f) f.dataset.changed = 'true' })
  document.addEventListener('submit', (e) => { leaving = e.target.id === 'editor' })
  document.addEventListener('click', (e) => { if (e.target.closest('#editor-actions a')) leaving = true })
  addEventListener('beforeunload', (e) => { if (unsaved() && !leaving) e.preventDefault() })
}
