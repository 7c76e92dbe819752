package db

import (
	"testing"

	"planwave/internal/plan"
)

func TestZZFixture(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "whole")
	b, err := s.batch(begin("Which city is the densest?", 1)...)
	if err != nil {
		t.Fatal(err)
	}
	b.Calls = []plan.Call{{ID: "c1", Agent: plan.RolePlanner, Attempt: 1, Model: "demo", Request: []byte(`"request"`), Response: []byte(`"response"`), StartedAt: epoch, FinishedAt: epoch}}
	if err := d.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s.tell(t, step("s1", "Quillhaven, 1,200.0 per km²")...)
	s.tell(t, answer(plan.Answer{Result: "It is **Quillhaven**.", Subject: "Quillhaven", RestsOn: []string{"s1"}})...)
	newStory(d, "waiting").tell(t, begin("What waits?", 2)[:2]...)
	if err := d.Backup(t.Context(), "testdata/version-1.db"); err != nil {
		t.Fatal(err)
	}
}
