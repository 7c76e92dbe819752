package mcp

import (
	"context"
	"testing"
	"time"
)

// BenchmarkCall measures a call of a server on its standard input and output.
func BenchmarkCall(b *testing.B) {
	s := Start(b.Context(), Config{Servers: []ServerConfig{itself(b, "srv", "plain")}}, quick())
	defer s.Close()
	s.Settled(b.Context())
	echo := named(b, s, "srv__echo")
	b.ResetTimer()
	for b.Loop() {
		if _, err := echo.Call(b.Context(), []byte(`{"a":1}`)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart measures how long it takes until a server's tools are there,
// and until nothing of it is left.
func BenchmarkStart(b *testing.B) {
	config := Config{Servers: []ServerConfig{itself(b, "srv", "plain")}}
	var closing time.Duration
	for b.Loop() {
		s := Start(context.Background(), config, quick())
		s.Settled(b.Context())
		begin := time.Now()
		s.Close()
		closing += time.Since(begin)
	}
	b.ReportMetric(float64(closing.Milliseconds())/float64(b.N), "ms/close")
}
