// Times: clocks that tick, ages, and points in time in the viewer's zone.
import { $, $$, on } from './dom.js'
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

// The server's clock less the viewer's: the largest seen, since what arrives late makes it too small.
let skew = -Infinity
const learn = (el, late = 0) => { skew = Math.max(skew, el.dataset.now - Date.now() + late) }
const now = () => Date.now() + skew

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
  const [by, unit] = [[86400, s < 172800 ? 'day' : 'days'], [3600, 'h'], [60, 'min'], [1, 's']].find(([by]) => s >= by)
  return `${Math.floor(s / by)} ${unit} ago`
}

function write(el, text) { if (el.textContent !== text) el.textContent = text }

function tick() {
  if (document.hidden) return
  for (const el of $$('[data-since]')) write(el, duration(now() - el.dataset.since))
  for (const el of $$('[data-until]')) write(el, duration(el.dataset.until - now()))
}

function ages() {
  for (const el of $$('time[data-time="age"]')) write(el, age(now() - Date.parse(el.dateTime)))
}

function localize() {
  for (const el of $$('[data-now]')) learn(el)
  for (const el of $$('time[data-time="moment"]')) write(el, moment.format(new Date(el.dateTime)))
}

export function start() {
  learn(document.documentElement, performance.now() - performance.getEntriesByType('navigation')[0].responseStart) // the page came so long ago
  $('#zone').textContent = zone
  const all = () => { localize(); tick(); ages() }
  all()
  on('htmx:afterSettle', all)
  on('htmx:sseMessage', localize)
  on('visibilitychange', tick)
  setInterval(tick, 100)
  setInterval(ages, 10000)
}
