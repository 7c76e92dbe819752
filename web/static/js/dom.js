// What the other scripts say often.
export const $ = (what) => document.querySelector(what)
export const $$ = (what) => document.querySelectorAll(what)
export const on = (what, does, options) => document.addEventListener(what, does, options)
export const control = (e) => e.ctrlKey || e.metaKey
export const click = (what, does) => on('click', (e) => { const el = e.target.closest(what); if (el) does(el, e) })
