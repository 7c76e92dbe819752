// The graph: zoom, drag, fit, map, arrow keys along the edges, and the places of nodes that arrive without a stylesheet.
import { $, $$, on, click, control } from './dom.js'

const [least, readable, most] = [0.1, 0.65, 2] // a page opens with a graph that can be read

let zoom = 0 // 0: not chosen yet
let key
let before = new Map() // places of nodes before the plan changed
let place = [] // where the view was then

const view = () => $('#graph [data-view]')
const sheet = () => $('#graph .sheet')
const nodes = () => [...$$('#graph .node')]

// put places an element where the server says; what is not said stays.
function put({ style, dataset: { x, y, w, h } }) {
  Object.assign(style, { left: x + 'px', top: y + 'px', width: w + 'px', height: h + 'px' })
}

// move lets the nodes that stay glide from where they were to where they are.
function move() {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const n of nodes()) {
    const old = before.get(n.id)
    const dx = old?.x - n.dataset.x
    const dy = old?.y - n.dataset.y
    if (dx || dy) n.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: 'none' }], { duration: 240, easing: 'ease-out' })
  }
}

function remember() {
  before = new Map(nodes().map((n) => [n.id, { ...n.dataset }]))
  place = [view()?.scrollLeft, view()?.scrollTop]
}

function setZoom(to, x = view().clientWidth / 2, y = view().clientHeight / 2) {
  const v = view()
  const s = sheet()
  const from = zoom || 1
  zoom = Math.min(most, Math.max(least, to))
  const left = (v.scrollLeft + x) * zoom / from - x
  const top = (v.scrollTop + y) * zoom / from - y
  s.style.zoom = zoom
  v.scrollTo(left, top)
}

function fit(smallest) {
  const pad = 18
  const foot = 44 // the room below the sheet that the buttons take
  const v = view()
  const { w, h } = sheet().dataset
  setZoom(Math.min(1, Math.max(smallest, Math.min((v.clientWidth - pad) / w, (v.clientHeight - pad - foot) / h))))
}

// map draws the whole graph small, and what is in view.
let drawing
function map() {
  cancelAnimationFrame(drawing)
  drawing = requestAnimationFrame(() => {
    const m = $('.minimap')
    const c = m?.getContext('2d')
    if (!c) return
    const { w, h } = sheet().dataset
    const v = view()
    const by = Math.min(m.width / w, m.height / h)
    const tones = {}
    c.reset()
    c.scale(by, by)
    for (const n of nodes()) {
      c.fillStyle = tones[n.className] ||= getComputedStyle(n).borderTopColor
      c.fillRect(n.dataset.x, n.dataset.y, 224, 104)
    }
    c.lineWidth = 2 / by
    c.strokeStyle = getComputedStyle(m).color
    c.strokeRect(v.scrollLeft / zoom, v.scrollTop / zoom, v.clientWidth / zoom, v.clientHeight / zoom)
    m.onpointerdown = m.onpointermove = (e) => {
      if (e.buttons) v.scrollTo(e.offsetX / by * zoom - v.clientWidth / 2, e.offsetY / by * zoom - v.clientHeight / 2)
    }
  })
}

// ready prepares a graph that has just come.
function ready() {
  const g = $('#graph')
  const s = sheet()
  if (!s) return
  for (const el of [s, ...s.querySelectorAll('.band, .fold, .node')]) put(el)
  if (zoom === 0 || (key !== g.dataset.key && !g.classList.contains('graph-draft'))) fit(readable)
  else {
    s.style.zoom = zoom
    view().scrollTo(...place)
  }
  key = g.dataset.key
  g.querySelector('.node[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  map()
}

function onWheel(e) {
  const v = e.target.closest('[data-view]')
  if (!v || !control(e)) return
  e.preventDefault()
  const box = v.getBoundingClientRect()
  setZoom(zoom * Math.exp(-e.deltaY / 300), e.x - box.x, e.y - box.y)
}

// drag moves the sheet. The pointer is captured, so that a drag from a node does not select it.
function onDown(e) {
  const v = e.target.closest?.('[data-view]')
  if (!v || e.button || e.pointerType === 'touch') return
  const left = v.scrollLeft + e.x
  const top = v.scrollTop + e.y
  v.onpointermove = (m) => {
    if (Math.hypot(m.x - e.x, m.y - e.y) > 4) v.setPointerCapture(m.pointerId)
    if (v.hasPointerCapture(m.pointerId)) v.scrollTo(left - m.x, top - m.y)
  }
  addEventListener('pointerup', () => { v.onpointermove = null }, { once: true })
}

// walk finds where an arrow key leads: along the edges, or across them within the wave.
function walk(node, arrow) {
  const right = $('.flow-right')
  const [along, across] = right ? ['x', 'y'] : ['y', 'x']
  const aside = (n) => n.dataset[across] - node.dataset[across]
  const back = /Up|Left/.test(arrow)
  let all
  if (/Up|Down/.test(arrow) === !right) {
    const [near, far] = back ? ['to', 'from'] : ['from', 'to']
    const ends = [...$$('#graph .edge')].filter((p) => p.dataset[near] === node.dataset.n).map((p) => p.dataset[far])
    all = nodes().filter((n) => ends.includes(n.dataset.n))
  } else all = nodes().filter((n) => n.dataset[along] === node.dataset[along] && (back ? aside(n) < 0 : aside(n) > 0))
  return all.sort((a, b) => Math.abs(aside(a)) - Math.abs(aside(b)))[0]
}

function onKey(e) {
  const node = e.target.closest?.('#graph .node')
  if (!node || !e.key.startsWith('Arrow') || control(e) || e.altKey) return
  e.preventDefault()
  walk(node, e.key)?.focus()
}

// follow asks for the part of the page that a link changes.
async function follow(a, e) {
  if (control(e) || e.shiftKey) return
  e.preventDefault()
  const { part, fold } = a.dataset
  const to = new URL(a)
  await htmx.ajax('GET', to.pathname + '/' + part + to.search, { source: a, target: '#' + part, swap: 'outerHTML' })
  if (fold) document.getElementById('node-' + fold).focus()
  else $('#' + part).scrollIntoView({ block: 'nearest' })
}

export function start() {
  document.cookie = `screen=${innerWidth > innerHeight ? 'wide' : 'tall'}; Path=/; Max-Age=31536000; SameSite=Lax`
  ready()
  click('[data-part]', follow)
  click('[data-zoom]', ({ value }) => (value ? setZoom(zoom * value) : fit(least)))
  on('keydown', onKey)
  on('scroll', map, true)
  on('wheel', onWheel, { passive: false })
  on('pointerdown', onDown)
  on('htmx:oobBeforeSwap', (e) => { if (e.detail.target.id === 'graph') remember() })
  on('htmx:beforeSwap', remember)
  on('htmx:oobAfterSwap', (e) => {
    const el = e.target
    if (el.id !== e.detail.target.id) return // it is told again with each part
    if (el.id === 'graph') { ready(); move() } else if (el.matches('.node')) { put(el); map() }
  })
  on('htmx:afterSettle', (e) => { if (['run', 'editor', 'graph'].includes(e.target.id)) { ready(); move() } })
}
