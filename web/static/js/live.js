// The live connection of a run's page. A page that nobody sees holds none: it lets go when it is hidden, and goes on
// after the last event that it saw when it is shown.
let source = null
let last = 0

const offline = (is) => { document.getElementById('offline').hidden = !is }

// asleep stands in for the connection that a hidden page does not open.
const asleep = () => Object.assign(new EventTarget(), { readyState: EventSource.CLOSED, close() {} })

// A browser holds six connections to a host over HTTP/1.1. Four pages of a browser at most hold one each, by a lock that
// ends with the page; every other page asks for the news again and again, and leaves the connection free in between.
const streams = 4
let turn = null // null: not known yet, '': holds a stream, 'poll': asks again and again
let release = () => {}

let taking = null

// takeTurn finds out whether this page may hold a stream.
function takeTurn() {
  const lock = (i) => navigator.locks.request('planwave-stream-' + i, { ifAvailable: true }, (held) => {
    if (held) return new Promise((free) => { release = free; taken('') })
    if (i + 1 < streams) lock(i + 1)
    else taken('poll')
  })
  let taken
  taking ||= new Promise((known) => { taken = known; navigator.locks ? lock(0) : known('') })
  return taking
}

function open(url) {
  if (document.hidden || turn === null) {
    if (turn === null) setTimeout(resume) // once this one is known
    return (source = asleep())
  }
  const es = new EventSource(turn ? `${url}&poll=1` : url, { withCredentials: true })
  source = es
  es.addEventListener('patch', (e) => { last = Math.max(last, Number(e.lastEventId) || 0) })
  es.addEventListener('open', () => offline(false))
  es.addEventListener('error', () => setTimeout(() => { if (source === es && es.readyState !== EventSource.OPEN && !es.ended && !turn) offline(true) }, 3000))
  es.addEventListener('done', () => { es.ended = true; offline(false); giveTurn() })
  return es
}

function giveTurn() {
  release()
  turn = taking = null
}

function pause() {
  if (source) source.close()
  giveTurn()
}

// resume puts a fresh copy of the stream's element in place of the old one, so that the extension connects again.
async function resume() {
  if (!document.querySelector('#stream[sse-connect]') || document.hidden) return
  turn = await takeTurn()
  const old = document.getElementById('stream')
  const url = old?.getAttribute('sse-connect')
  if (!url || document.hidden || (source && source.readyState !== EventSource.CLOSED) || source?.ended) return
  const next = old.cloneNode(true)
  const to = new URL(url, location.href)
  to.searchParams.set('after', Math.max(last, Number(to.searchParams.get('after')) || 0))
  next.setAttribute('sse-connect', to.pathname + to.search)
  old.replaceWith(next)
  htmx.process(next)
}

// head shows the run's state in the tab.
function head() {
  const el = document.getElementById('run-head')
  if (!el) return
  document.title = el.dataset.title
  const icon = document.getElementById('tab-icon')
  if (icon.getAttribute('href') !== el.dataset.icon) icon.setAttribute('href', el.dataset.icon)
}

// selected marks the node whose panel is open: a node that the server replaced does not know.
function selected() {
  const step = document.getElementById('panel')?.dataset.step
  for (const n of document.querySelectorAll('.node')) {
    if (step !== undefined && n.dataset.n === step) n.setAttribute('aria-current', 'true')
    else n.removeAttribute('aria-current')
  }
}

// opened remembers which details are open, so that they stay so when they are replaced.
const opened = new Set()

function settle() {
  head()
  selected()
  for (const id of opened) {
    const el = document.getElementById(id)
    if (el && !el.open) el.open = true
  }
}

// show brings a panel into view that a person asked for and that lies below the window.
function show(e) {
  const by = e.detail.requestConfig?.elt
  if (by?.matches('.node, .step-link')) document.getElementById('panel').scrollIntoView({ block: 'nearest' })
}

// answered takes away what a refusal said once a person's next request succeeds; what the page asks by itself leaves it.
function answered(e) {
  if (!e.detail.successful) return
  offline(false)
  if (!e.detail.requestConfig.elt.matches('#nudge, [data-poll]')) document.getElementById('flash').replaceChildren()
}

export function start() {
  htmx.createEventSource = open
  document.addEventListener('toggle', (e) => {
    const el = e.target
    if (el.localName !== 'details' || !el.id || el.classList.contains('pop')) return
    if (el.open) opened.add(el.id)
    else if (el.isConnected) opened.delete(el.id)
  }, true)
  settle()
  resume()
  document.addEventListener('htmx:afterSettle', settle)
  document.addEventListener('htmx:oobAfterSwap', settle)
  document.addEventListener('htmx:afterSettle', (e) => { if (e.target.id === 'panel') show(e) })
  document.addEventListener('visibilitychange', () => (document.hidden ? pause() : resume()))
  addEventListener('pagehide', pause)
  addEventListener('pageshow', (e) => { if (e.persisted) resume() })
  document.addEventListener('htmx:sendError', () => offline(true))
  document.addEventListener('htmx:afterRequest', answered)
  document.addEventListener('htmx:beforeRequest', (e) => { if (document.hidden && e.target.hasAttribute('data-poll')) e.preventDefault() })
}
