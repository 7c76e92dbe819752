// The plan editor: dependencies drawn from node to node, undo and redo, and unsaved work that survives a reload. All of it
// changes the form's fields, or has the server show the form with others.
import { $, $$, on, click, control } from './dom.js'

const form = () => $('#editor')
const fields = () => new URLSearchParams(new FormData(form())).toString()
const store = () => 'draft:' + form().action
const say = (text) => { $('#editor-say').textContent = text }

let edits = [] // the fields after each edit
let at = -1 // the edit that is shown
let busy // while another one is on its way

function keep() {
  const done = edits.slice(0, at + 1)
  if (done[at] !== fields()) done.push(fields())
  sessionStorage.setItem(store(), JSON.stringify([Date.now(), ...done]))
}

function note() {
  if (busy) return
  if (at >= 0 && edits[at] !== fields()) keep()
  if (edits[at] !== fields()) edits.splice(++at, Infinity, fields())
  Object.assign($('[data-undo]'), { hidden: false, disabled: !at })
  Object.assign($('[data-redo]'), { hidden: false, disabled: !edits[at + 1] })
}

// show has the server show another edit. Nothing is saved.
async function show(n, said) {
  if (busy || !edits[n]) return
  busy = true
  const text = await fetch(form().action, { method: 'POST', body: new URLSearchParams(edits[n] + '&op=show') }).then((a) => a.text(), String)
  busy = false
  const run = new DOMParser().parseFromString(text, 'text/html').getElementById('run')
  if (!run?.querySelector('#editor')) return say('The server is gone, or the plan can no longer be edited.')
  $('#run').replaceWith(run)
  htmx.process(run)
  edits[at = n] = fields()
  keep()
  form().dispatchEvent(new Event('htmx:afterSettle', { bubbles: true }))
  say(said)
}
const undo = () => show(at - 1, 'Undone.')
const redo = () => show(at + 1, 'Done again.')

const card = (id) => [...form().querySelectorAll('.step-card')].find((c) => c.querySelector('[name$=".id"]').value === id)

// leads says whether the results of a step flow, over others, into another.
function leads(from, to) {
  const seen = new Set([from])
  for (const id of seen) for (const p of $$('.edge')) if (p.dataset.from === id) seen.add(p.dataset.to)
  return seen.has(to)
}

// join makes a step need another, or need it no more.
function join(from, to) {
  const box = [...card(to).querySelectorAll('.deps [type=checkbox]')].find((b) => b.value === from)
  if (!box?.checked && leads(to, from)) return say(`${from} needs ${to}, so ${to} cannot need ${from}: they would wait on each other.`)
  const field = box || card(to).querySelector('.dep-typed')
  if (box) box.checked = !box.checked
  else field.value = from
  say(box?.checked === false ? `${to} no longer needs ${from}.` : `${to} needs ${from} now.`)
  field.dispatchEvent(new Event('change', { bubbles: true }))
}

// draw follows the pointer from a node's handle to the node that is to need it.
function draw(e) {
  const from = e.target.closest?.('[data-join]')?.closest('.node')
  if (!from || e.button) return
  e.preventDefault()
  e.stopPropagation()
  const svg = $('#graph-edges')
  const box = svg.getBoundingClientRect()
  const scale = svg.width.baseVal.value / box.width
  const place = (p) => `${(p.x - box.x) * scale} ${(p.y - box.y) * scale}`
  const line = document.createElementNS(svg.namespaceURI, 'path')
  line.setAttribute('class', 'edge-drawn')
  svg.append(line)
  const move = (m) => line.setAttribute('d', `M${place(e)}L${place(m)}`)
  addEventListener('pointermove', move)
  addEventListener('pointerup', (u) => {
    removeEventListener('pointermove', move)
    line.remove()
    const to = document.elementFromPoint(u.x, u.y)?.closest('.node')
    if (to && to !== from) join(from.dataset.n, to.dataset.n)
  }, { once: true })
}

let joining // the step that another is to need, while the keyboard chooses that

function keys(e) {
  const id = e.target.closest('.node')?.dataset.n
  const undoes = control(e) && /z/i.test(e.key) && !e.target.closest('textarea, input')
  const does = undoes ? (e.shiftKey ? redo : undo) : id && !control(e) && !e.altKey && {
    d: () => { say(`Choose the step that is to need ${joining = id}: arrow keys, then Enter. Escape leaves it.`) },
    a: () => card(id).querySelector('[id^=op-plus]').click(),
    Delete: () => card(id).querySelector('[id^=op-trash]').click(),
    Escape: () => say(joining = ''),
    Enter: joining && (() => { join(joining, id); joining = '' }),
  }[e.key]
  if (!does) return
  e.preventDefault()
  does()
}

// leave forgets what was typed: it is saved or dropped.
function leave() {
  sessionStorage.removeItem(store())
  form().dataset.changed = 'false'
}

export function start() {
  on('pointerdown', draw, true)
  on('keydown', keys)
  click('.edge-hit', (edge) => join(edge.dataset.from, edge.dataset.to))
  click('[data-join]', (handle, e) => e.preventDefault())
  click('[data-undo]', undo)
  click('[data-redo]', redo)
  click('#editor-actions a', leave)
  on('input', () => { form().dataset.changed = 'true'; keep() })
  for (const when of ['change', 'htmx:afterSettle', 'htmx:afterRequest']) on(when, note)
  on('submit', (e) => { if (e.target === form()) leave() })
  addEventListener('beforeunload', (e) => { if (form().dataset.changed === 'true') e.preventDefault() })
  const [when, ...kept] = JSON.parse(sessionStorage.getItem(store())) || []
  note()
  if (form().dataset.changed === 'true') keep()
  if (!kept.length || kept.at(-1) === fields()) return
  edits = kept
  show(kept.length - 1, `Your unsaved changes from ${new Date(when).toLocaleTimeString(undefined, { timeStyle: 'short' })} are back. Discard drops them.`)
}
