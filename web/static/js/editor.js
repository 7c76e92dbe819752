// The plan editor: dependencies drawn from node to node, undo and redo, and unsaved work that survives a reload. The form
// is the only truth: everything here changes its fields, or sends it to the server to be shown again.
const form = () => document.getElementById('editor')
const fields = () => new URLSearchParams(new FormData(form())).toString()
const version = (data) => new URLSearchParams(data).get('version')
const store = () => 'draft:' + new URL(form().action).pathname

let past = []
let future = []
let last = null // the fields as they were last noted
let showing = false // other fields are on their way: those on the page are not noted

function say(text) {
  const el = document.getElementById('editor-say')
  if (el) el.textContent = text
}

function buttons() {
  document.querySelector('[data-hint]')?.removeAttribute('hidden')
  for (const [name, list] of [['undo', past], ['redo', future]]) {
    const b = document.querySelector(`[data-${name}]`)
    if (b) { b.hidden = false; b.disabled = list.length === 0 }
  }
}

function keep() { sessionStorage.setItem(store(), JSON.stringify({ data: fields(), at: Date.now() })) }

// note remembers the fields where they have changed.
function note() {
  if (!form() || showing) return
  const data = fields()
  if (data !== last) {
    if (last !== null) {
      past.push(last)
      future = []
      keep()
    } else if (form().dataset.changed === 'true') keep()
    last = data
  }
  buttons()
}

// show has the server show the form with other fields. Nothing is saved, but what op "save" is asked of an older version
// is shown on top of the newest.
async function show(data, op = 'show') {
  const body = new URLSearchParams(data)
  body.set('op', op)
  showing = true
  const text = await fetch(form().action, { method: 'POST', body }).then((a) => a.text()).catch(() => '')
  showing = false
  const next = new DOMParser().parseFromString(text, 'text/html').getElementById('run')
  if (!next?.querySelector('#editor')) return say('This cannot be shown: the server does not answer, or the plan can no longer be edited.')
  document.getElementById('run').replaceWith(next)
  htmx.process(next)
  last = fields()
  keep()
  form().dispatchEvent(new Event('htmx:afterSettle', { bubbles: true }))
}

function step(from, to, word) {
  if (from.length === 0 || showing) return
  to.push(last)
  last = from.pop()
  show(last).then(() => { buttons(); say(word) })
}
const undo = () => step(past, future, 'Undone.')
const redo = () => step(future, past, 'Done again.')

// restore brings back what was not saved before the page went away.
async function restore() {
  const kept = JSON.parse(sessionStorage.getItem(store()) || 'null')
  if (!kept || kept.data === fields()) return
  const older = version(kept.data) !== version(fields())
  await show(kept.data, older ? 'save' : 'show')
  const at = new Date(kept.at).toLocaleTimeString(undefined, { timeStyle: 'short' })
  say(`Your unsaved changes from ${at} are back. Discard drops them.`)
}

const card = (id) => [...form().querySelectorAll('.step-card')].find((c) => c.querySelector('input[name$=".id"]').value === id)

// leads says whether the results of a step flow, over others, into another.
function leads(from, to) {
  const seen = new Set([from])
  for (const id of seen) {
    if (id === to) return true
    for (const p of document.querySelectorAll('#graph .edge')) if (p.dataset.from === id) seen.add(p.dataset.to)
  }
  return false
}

// join makes a step need another, or need it no more.
function join(from, to) {
  const where = card(to)
  if (!where) return
  const box = [...where.querySelectorAll('.deps input[type=checkbox]')].find((b) => b.value === from)
  if (!box?.checked && leads(to, from)) {
    return say(from === to ? `${to} cannot need itself.` : `${from} needs ${to}, so ${to} cannot need ${from}: they would wait on each other.`)
  }
  const field = box || where.querySelector('.dep-typed')
  if (box) box.checked = !box.checked
  else field.value = from
  say(box && !box.checked ? `${to} no longer needs ${from}.` : `${to} needs ${from} now.`)
  field.dispatchEvent(new Event('change', { bubbles: true }))
}

// draw follows the pointer from a node's handle to the node that is to need it.
function draw(e) {
  const handle = e.target.closest?.('[data-join]')
  if (!handle || e.button !== 0) return
  e.preventDefault()
  e.stopPropagation()
  const node = handle.closest('.node')
  const svg = document.getElementById('graph-edges')
  const box = svg.getBoundingClientRect()
  const at = (p) => `${(p.clientX - box.left) * svg.viewBox.baseVal.width / box.width} ${(p.clientY - box.top) * svg.viewBox.baseVal.height / box.height}`
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  line.setAttribute('class', 'edge-drawn')
  svg.append(line)
  const over = (p) => document.elementFromPoint(p.clientX, p.clientY)?.closest('#graph .node')
  const move = (m) => {
    line.setAttribute('d', `M${at(e)}L${at(m)}`)
    for (const n of document.querySelectorAll('.node-target')) n.classList.remove('node-target')
    over(m)?.classList.add('node-target')
  }
  addEventListener('pointermove', move)
  addEventListener('pointerup', (u) => {
    removeEventListener('pointermove', move)
    line.remove()
    const to = over(u)
    to?.classList.remove('node-target')
    if (to && to !== node) join(node.dataset.n, to.dataset.n)
  }, { once: true })
}

let joining = null // the step whose result another is to need, while the keyboard chooses that

function keys(e) {
  if (!form()) return
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'z' && !e.target.closest('textarea, input')) {
    e.preventDefault()
    return e.shiftKey ? redo() : undo()
  }
  const id = e.target.closest?.('#graph .node')?.dataset.n
  if (!id || e.ctrlKey || e.metaKey || e.altKey) return
  const press = (what) => card(id)?.querySelector(`[id^=op-${what}-]`)?.click()
  const does = {
    d: () => { joining = id; say(`Choose the step that is to need ${id} with the arrow keys, and press Enter. Escape leaves it.`) },
    a: () => press('plus'),
    Delete: () => press('trash'),
    Escape: () => { if (joining) say('Left as it was.'); joining = null },
    Enter: joining && (() => { join(joining, id); joining = null }),
  }[e.key]
  if (does) { e.preventDefault(); does() }
}

function clicks(e) {
  const on = (what) => e.target.closest?.(what)
  const edge = on('.graph-draft .edge-hit')
  if (edge) join(edge.dataset.from, edge.dataset.to)
  if (on('.graph-draft [data-join]')) e.preventDefault()
  if (on('[data-undo]')) undo()
  if (on('[data-redo]')) redo()
  if (on('#editor-actions a')) sessionStorage.removeItem(store())
}

export async function start() {
  document.addEventListener('pointerdown', draw, true)
  document.addEventListener('keydown', keys)
  document.addEventListener('click', clicks)
  document.addEventListener('input', (e) => { if (e.target.closest('#editor')) keep() })
  document.addEventListener('change', (e) => { if (e.target.closest('#editor')) note() })
  document.addEventListener('htmx:afterSettle', note)
  document.addEventListener('htmx:oobAfterSwap', buttons)
  document.addEventListener('submit', (e) => { if (e.target === form()) sessionStorage.removeItem(store()) })
  await restore()
  note()
}
