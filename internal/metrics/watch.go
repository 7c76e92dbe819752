package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planwave/internal/db"
)

// longestLook is how long the database may take to be counted.
const longestLook = 5 * time.Second

// Store is what is asked when somebody looks.
type Store interface {
	Census(ctx context.Context) ([]db.Census, error)
	Sizes() (file, log int64, err error)
}

// Watch adds what there is at the moment of looking: runs by status and
// strategy, the size of the files, and how many steps are being carried out.
func (m *Metrics) Watch(store Store, stepsRunning func() int) {
	m.registry.MustRegister(&present{
		store: store, stepsRunning: stepsRunning,
		runs:  prometheus.NewDesc("planwave_runs", "Runs that there are.", []string{"status", "strategy"}, nil),
		steps: prometheus.NewDesc("planwave_steps_running", "Attempts at steps that are being carried out.", nil, nil),
		file:  prometheus.NewDesc("planwave_database_bytes", "Size of the database file.", nil, nil),
		log:   prometheus.NewDesc("planwave_database_wal_bytes", "Size of the log that is written ahead of the database file.", nil, nil),
	})
}

// present collects what there is at the moment.
type present struct {
	store                  Store
	stepsRunning           func() int
	runs, steps, file, log *prometheus.Desc
}

// Describe names what Collect tells.
func (p *present) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.runs, p.steps, p.file, p.log} {
		to <- d
	}
}

// Collect asks for what there is.
func (p *present) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), longestLook)
	defer cancel()
	to <- gauge(p.steps, float64(p.stepsRunning()))
	if all, err := p.store.Census(ctx); err != nil {
		to <- prometheus.NewInvalidMetric(p.runs, err)
	} else {
		for _, c := range all {
			to <- gauge(p.runs, float64(c.Runs), string(c.Status), string(c.Strategy))
		}
	}
	if file, log, err := p.store.Sizes(); err != nil {
		to <- prometheus.NewInvalidMetric(p.file, err)
	} else {
		to <- gauge(p.file, float64(file))
		to <- gauge(p.log, float64(log))
	}
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}
