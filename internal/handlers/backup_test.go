package handlers

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// The settings page gives away a whole copy of the database, to who is on the
// page and to no other site.
func TestABackupIsDownloadedFromTheSettingsPage(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusSucceeded)
	action, _ := s.page("/settings").Find("form:contains(backup)").Attr("action")
	a := s.want(200, "POST", action, "")
	name := a.header.Get("Content-Disposition")
	if !regexp.MustCompile(`^attachment; filename="planwave-\d{8}-\d{6}\.db"$`).MatchString(name) || a.header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
		t.Errorf("it comes with %v", a.header)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied, []byte(a.body), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), copied, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Load(t.Context(), id)
	if err != nil || r.Status != plan.RunStatusSucceeded {
		t.Errorf("the copy has %+v, %v", r, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if a := s.want(403, "POST", action, "", "Sec-Fetch-Site", "cross-site"); strings.Contains(a.body, "SQLite") {
		t.Error("another site was given the database")
	}
}
