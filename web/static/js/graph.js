// The graph: zoom, drag, fit, arrow keys along the edges, and the places of nodes that arrive without a stylesheet.
import { $, $$, on, click, control } from './dom.js'

const least = 0.2
const most = 2
const readable = 0.65 // the smallest size a graph is shown at when the page opens

let zoom = 0 // 0: not chosen yet
let key = null
let before = new Map() // places of nodes before the plan changed

const view = () => $('#graph [data-view]')
const sheet = () => $('#graph .sheet')

// put places an element where the server says; what is not said stays.
function put({ style, dataset: { x, y, w, h } }) {
  Object.assign(style, { left: x + 'px', top: y + 'px', width: w + 'px', height: h + 'px' })
}

// move lets the nodes that stay glide from where they were to where they are.
function move() {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const n of $$('#graph .node')) {
    const old = before.get(n.id)
    const dx = old?.x - n.dataset.x
    const dy = old?.y - n.dataset.y
    if (dx || dy) n.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: 'none' }], { duration: 240, easing: 'ease-out' })
  }
}

function remember() {
  before = new Map([...$$('#graph .node')].map((n) => [n.id, { ...n.dataset }]))
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
  const s = sheet()
  s.style.zoom = zoom = 1
  const fits = v.scrollWidth <= v.clientWidth && v.scrollHeight <= v.clientHeight
  setZoom(fits ? 1 : Math.min(1, Math.max(smallest, Math.min((v.clientWidth - pad) / s.dataset.w, (v.clientHeight - pad - foot) / s.dataset.h))))
}

// ready prepares a graph that has just come onto the page.
function ready() {
  const g = $('#graph')
  const s = sheet()
  if (!g || !s) return
  for (const el of [s, ...s.querySelectorAll('.band, .node')]) put(el)
  if (zoom === 0 || (key !== g.dataset.key && !g.classList.contains('graph-draft'))) fit(readable)
  else s.style.zoom = zoom
  key = g.dataset.key
  const v = view()
  v.classList.toggle('draggable', v.scrollWidth > v.clientWidth || v.scrollHeight > v.clientHeight)
  g.querySelector('.node[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function onWheel(e) {
  const v = e.target.closest('[data-view]')
  if (!v || !control(e)) return
  e.preventDefault()
  const box = v.getBoundingClientRect()
  setZoom(zoom * Math.exp(-e.deltaY / 300), e.x - box.x, e.y - box.y)
}

// drag moves the sheet under the pointer. A drag that began on a node does not select it.
function onDown(e) {
  const v = e.target.closest?.('[data-view]')
  if (!v || e.button || e.pointerType === 'touch') return
  const left = v.scrollLeft + e.x
  const top = v.scrollTop + e.y
  let moved = false
  const onMove = (m) => {
    moved ||= Math.hypot(m.x - e.x, m.y - e.y) > 4
    if (!moved) return
    v.classList.add('dragging')
    v.scrollTo(left - m.x, top - m.y)
  }
  const onUp = () => {
    removeEventListener('pointermove', onMove)
    v.classList.remove('dragging')
    if (moved) addEventListener('click', (c) => { if (v.contains(c.target)) { c.preventDefault(); c.stopPropagation() } }, { capture: true, once: true })
  }
  addEventListener('pointermove', onMove)
  addEventListener('pointerup', onUp, { once: true })
}

// walk finds the node that an arrow key leads to: up and down along the edges, left and right within the wave.
function walk(node, arrow) {
  const id = node.dataset.n
  const nodes = [...$$('#graph .node')]
  if (arrow === 'ArrowLeft' || arrow === 'ArrowRight') {
    const row = nodes.filter((n) => n.dataset.y === node.dataset.y).sort((a, b) => a.dataset.x - b.dataset.x)
    return row[row.indexOf(node) + (arrow === 'ArrowLeft' ? -1 : 1)]
  }
  const [near, far] = arrow === 'ArrowUp' ? ['to', 'from'] : ['from', 'to']
  const ends = [...$$('#graph .edge')].filter((p) => p.dataset[near] === id).map((p) => p.dataset[far])
  const aside = (n) => Math.abs(n.dataset.x - node.dataset.x)
  return nodes.filter((n) => ends.includes(n.dataset.n)).sort((a, b) => aside(a) - aside(b))[0]
}

function onKey(e) {
  const node = e.target.closest?.('#graph .node')
  if (!node || !e.key.startsWith('Arrow') || control(e) || e.altKey) return
  e.preventDefault()
  const next = walk(node, e.key)
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

export function start() {
  ready()
  click('[data-zoom=fit]', () => fit(least))
  click('[data-zoom=in]', () => setZoom(zoom * 1.25))
  click('[data-zoom=out]', () => setZoom(zoom * 0.8))
  on('keydown', onKey)
  on('wheel', onWheel, { passive: false })
  on('pointerdown', onDown)
  on('htmx:oobBeforeSwap', (e) => { if (e.detail.target.id === 'graph') remember() })
  on('htmx:beforeSwap', remember)
  on('htmx:oobAfterSwap', (e) => {
    const el = document.getElementById(e.detail.target.id)
    if (el?.id === 'graph') { ready(); move() } else if (el?.classList.contains('node')) put(el)
  })
  on('htmx:afterSettle', (e) => { if (['run', 'editor'].includes(e.target.id)) { ready(); move() } })
}
