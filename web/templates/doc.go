// Package templates holds the pages and their parts as templ components, and
// the props that fill them. A component is a pure function of its props: it
// reads no clock, no database and no request.
//
// Every part of a page that changes while people look has one component, an
// element with a fixed id, and an OOB field in its props: the same component
// serves the page and, with OOB set, the fragment that replaces the element by
// its id. A part that has nothing to show still renders its element, hidden, so
// that a later fragment finds it. All strings in props are untrusted and
// escaped; HTML comes in as a [templ.Component] from web/markdown only.
package templates
