// Starts what the pages do besides htmx. Every page works without it.
import { $ } from './dom.js'
import { start as graph } from './graph.js'
import { start as clocks } from './clock.js'
import { start as live } from './live.js'
import { start as forms } from './forms.js'

for (const start of [live, graph, clocks, forms]) start()
if ($('#editor')) (await import('./editor.js')).start()
