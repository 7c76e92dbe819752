// Times: clocks that tick, ages, and points in time in the viewer's zone.
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

// The server's clock less the viewer's. What arrives late makes it too small, so the largest of what was seen is the best.
let skew = -Infinity
const learn = (el, late = 0) => { skew = Math.max(skew, Number(el.dataset.now) - Date.now() + late) }
const now = () => Date.now() + (Number.isFinite(skew) ? skew : 0)

export function duration(ms) {
  const exact = Math.max(0, ms) / 1000
  if (exact < 59.95) return exact.toFixed(1) + ' s'
  const s = Math.round(exact)
  const two = (n) => String(Math.floor(n)).padStart(2, '0')
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`
  return `${Math.floor(s / 3600)} h ${two(s % 3600 / 60)} min`
}

export function age(ms) {
  const s = Math.max(0, ms) / 1000
  if (s < 10) return 'just now'
  if (s < 60) return `${Math.floor(s)} s ago`
  if (s < 3600) return `${Math.floor(s / 60)} min ago`
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`
  const days = Math.floor(s / 86400)
  return days === 1 ? '1 day ago' : `${days} days ago`
}

function write(el, text) { if (el.textContent !== text) el.textContent = text }

function tick() {
  if (document.hidden) return
  for (const el of document.querySelectorAll('[data-since]')) write(el, duration(now() - Number(el.dataset.since)))
  for (const el of document.querySelectorAll('[data-until]')) write(el, duration(Number(el.dataset.until) - now()))
}

function ages() {
  for (const el of document.querySelectorAll('time[data-time="age"]')) write(el, age(now() - Date.parse(el.dateTime)))
}

function localize(root) {
  for (const el of root.querySelectorAll('[data-now]')) learn(el)
  for (const el of root.querySelectorAll('time[data-time="moment"]')) write(el, moment.format(new Date(el.dateTime)))
}

export function start() {
  const page = performance.getEntriesByType('navigation')[0]
  learn(document.documentElement, page ? performance.now() - page.responseStart : 0) // the page came so long ago
  const name = document.getElementById('zone')
  if (name) name.textContent = zone
  const all = () => { localize(document); tick(); ages() }
  all()
  document.addEventListener('htmx:afterSettle', all)
  document.addEventListener('htmx:oobAfterSwap', (e) => localize(e.detail.target.parentNode || document))
  document.addEventListener('visibilitychange', tick)
  setInterval(tick, 100)
  setInterval(ages, 10000)
}
