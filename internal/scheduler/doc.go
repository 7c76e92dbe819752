// Package scheduler turns an approved plan into executed steps: readiness,
// waves, limits, the cascade of a failure, cancelling and stopping. It knows no
// model, no database and no HTTP: what a step does and where events go are
// handed to it.
package scheduler
