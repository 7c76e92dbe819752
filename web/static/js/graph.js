// The graph: zoom, drag, fit, arrow keys along the edges, and the places of nodes that arrive without a stylesheet.
const least = 0.2
const most = 2
const readable = 0.65 // the smallest size a graph is shown at when the page opens

let zoom = 0 // 0: not chosen yet
let key = null
let before = new Map() // places of nodes before the plan changed

const view = () => document.querySelector('#graph [data-view]')
const sheet = () => document.querySelector('#graph .sheet')

function place() {
  const s = sheet()
  if (!s) return
  s.style.width = s.dataset.w + 'px'
  s.style.height = s.dataset.h + 'px'
  for (const b of s.querySelectorAll('.band')) Object.assign(b.style, { top: b.dataset.y + 'px', height: b.dataset.h + 'px' })
  for (const n of s.querySelectorAll('.node')) placeNode(n)
}

function placeNode(n) {
  const d = n.dataset
  Object.assign(n.style, { left: d.x + 'px', top: d.y + 'px', width: d.w + 'px', height: d.h + 'px' })
}

// move lets the nodes that stay glide from where they were to where they are.
function move() {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const n of document.querySelectorAll('#graph .node')) {
    const old = before.get(n.id)
    const dx = old && old.x - n.dataset.x
    const dy = old && old.y - n.dataset.y
    if (old && (dx || dy)) n.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: 'none' }], { duration: 240, easing: 'ease-out' })
  }
}

function remember() {
  before = new Map([...document.querySelectorAll('#graph .node')].map((n) => [n.id, { x: n.dataset.x, y: n.dataset.y }]))
}

function whole(v, s) {
  const pad = 18
  const foot = 44 // the room below the sheet that the buttons take
  return Math.min((v.clientWidth - pad) / s.dataset.w, (v.clientHeight - pad - foot) / s.dataset.h)
}

function setZoom(to, x, y) {
  const v = view()
  const s = sheet()
  if (!v || !s) return
  const from = zoom || 1
  zoom = Math.min(most, Math.max(least, to))
  const cx = x ?? v.clientWidth / 2
  const cy = y ?? v.clientHeight / 2
  const left = (v.scrollLeft + cx) * zoom / from - cx
  const top = (v.scrollTop + cy) * zoom / from - cy
  s.style.zoom = zoom
  v.scrollTo(left, top)
}

function fit(smallest) {
  const v = view()
  const s = sheet()
  if (!v || !s) return
  s.style.zoom = zoom = 1
  const fits = v.scrollWidth <= v.clientWidth && v.scrollHeight <= v.clientHeight
  setZoom(fits ? 1 : Math.min(1, Math.max(smallest, whole(v, s))))
}

// ready prepares a graph that has just come onto the page.
function ready() {
  const g = document.getElementById('graph')
  const s = sheet()
  if (!g || !s) return
  place()
  g.querySelector('[data-graph-tools]')?.classList.add('ready')
  if (zoom === 0 || (key !== g.dataset.key && !g.classList.contains('graph-draft'))) fit(readable)
  else s.style.zoom = zoom
  key = g.dataset.key
  const v = view()
  v.classList.toggle('draggable', v.scrollWidth > v.clientWidth || v.scrollHeight > v.clientHeight)
  g.querySelector('.node[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function onWheel(e) {
  if (!e.ctrlKey && !e.metaKey) return
  const v = e.target.closest('[data-view]')
  if (!v) return
  e.preventDefault()
  const box = v.getBoundingClientRect()
  setZoom(zoom * Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top)
}

// drag moves the sheet under the pointer. A drag that began on a node does not select it.
function onDown(e) {
  const v = e.target.closest?.('[data-view]')
  if (!v || e.button !== 0 || e.pointerType === 'touch') return
  const from = { x: e.clientX, y: e.clientY, left: v.scrollLeft, top: v.scrollTop }
  let moved = false
  const onMove = (m) => {
    moved ||= Math.hypot(m.clientX - from.x, m.clientY - from.y) > 4
    if (!moved) return
    v.classList.add('dragging')
    v.scrollTo(from.left - (m.clientX - from.x), from.top - (m.clientY - from.y))
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
  const x = (n) => Number(n.dataset.x)
  const nodes = [...sheet().querySelectorAll('.node')]
  if (arrow === 'ArrowLeft' || arrow === 'ArrowRight') {
    const row = nodes.filter((n) => n.dataset.y === node.dataset.y).sort((a, b) => x(a) - x(b))
    return row[row.indexOf(node) + (arrow === 'ArrowLeft' ? -1 : 1)]
  }
  const [near, far] = arrow === 'ArrowUp' ? ['to', 'from'] : ['from', 'to']
  const ends = [...sheet().querySelectorAll('.edge')].filter((p) => p.dataset[near] === id).map((p) => p.dataset[far])
  return nodes.filter((n) => ends.includes(n.dataset.n)).sort((a, b) => Math.abs(x(a) - x(node)) - Math.abs(x(b) - x(node)))[0]
}

function onKey(e) {
  const node = e.target.closest?.('#graph .node')
  if (!node || !e.key.startsWith('Arrow') || e.ctrlKey || e.metaKey || e.altKey) return
  e.preventDefault()
  const next = walk(node, e.key)
  if (next) {
    next.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
}

function onTool(e) {
  const tool = e.target.closest('[data-zoom]')
  if (!tool) return
  if (tool.dataset.zoom === 'fit') fit(least)
  else setZoom(zoom * (tool.dataset.zoom === 'in' ? 1.25 : 0.8))
}

export function start() {
  ready()
  document.addEventListener('click', onTool)
  document.addEventListener('keydown', onKey)
  document.addEventListener('wheel', onWheel, { passive: false })
  document.addEventListener('pointerdown', onDown)
  document.addEventListener('htmx:oobBeforeSwap', (e) => { if (e.detail.target.id === 'graph') remember() })
  document.addEventListener('htmx:beforeSwap', remember)
  document.addEventListener('htmx:oobAfterSwap', (e) => {
    const el = e.detail.target.isConnected ? e.detail.target : document.getElementById(e.detail.target.id)
    if (el?.id === 'graph') { ready(); move() } else if (el?.classList.contains('node')) placeNode(el)
  })
  document.addEventListener('htmx:afterSettle', (e) => { if (e.target.id === 'run' || e.target.id === 'editor') { ready(); move() } })
}
