// The live connection of a run's page. A hidden page holds none, and goes on after the last event it saw when it is shown.
import { $, $$, on } from './dom.js'

let source
let last = 0
let opens = 0

const offline = (is) => { $('#offline').hidden = !is }

// asleep is the connection of a hidden page.
const asleep = () => Object.assign(new EventTarget(), { readyState: EventSource.CLOSED, close() {} })

function open(url) {
  if (document.hidden) return (source = asleep())
  const es = new EventSource(url, { withCredentials: true })
  source = es
  es.addEventListener('patch', (e) => { last = Math.max(last, e.lastEventId) })
  es.addEventListener('open', () => { opens++; offline(false) })
  es.addEventListener('error', () => {
    const before = opens // a page too many is let go, and comes again soon
    setTimeout(() => { if (source === es && opens === before && !es.ended) offline(true) }, 3000)
  })
  es.addEventListener('done', () => { es.ended = true; offline(false) })
  return es
}

const pause = () => source?.close()

// resume renews the stream's element, so that the extension connects again.
function resume() {
  const old = $('#stream')
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
  const el = $('#run-head')
  if (!el) return
  document.title = el.dataset.title
  const icon = $('#tab-icon')
  if (icon.getAttribute('href') !== el.dataset.icon) icon.href = el.dataset.icon
}

// selected marks the node whose panel is open: a node that the server replaced does not know.
function selected() {
  const step = $('#panel')?.dataset.step
  for (const n of $$('.node[aria-current]')) n.ariaCurrent = null
  document.getElementById('node-' + step)?.setAttribute('aria-current', 'true')
}

// opened are the details that stay open when they are replaced.
const opened = new Set()

function settle() {
  head()
  selected()
  for (const id of opened) {
    const el = document.getElementById(id)
    if (el) el.open = true
  }
}

// answered takes away a refusal when a person's next request, not one of the page's own, succeeds.
function answered(e) {
  if (!e.detail.successful) return
  offline(false)
  if (!e.detail.requestConfig.elt.matches('#nudge, [data-poll]')) $('#flash').replaceChildren()
}

export function start() {
  htmx.createEventSource = open
  on('toggle', (e) => {
    const el = e.target
    if (!el.matches('details[id]:not(.pop)')) return
    if (el.open) opened.add(el.id)
    else if (el.isConnected) opened.delete(el.id)
  }, true)
  settle()
  on('htmx:afterSettle', settle)
  on('htmx:sseMessage', settle)
  on('visibilitychange', () => (document.hidden ? pause() : resume()))
  addEventListener('pagehide', pause)
  addEventListener('pageshow', (e) => { if (e.persisted) resume() })
  on('htmx:sendError', () => offline(true))
  on('htmx:afterRequest', answered)
  on('htmx:beforeRequest', (e) => { if (document.hidden && e.target.hasAttribute('data-poll')) e.preventDefault() })
}
