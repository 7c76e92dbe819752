package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// backupPath is where a backup is downloaded.
const backupPath = "/settings/backup"

// backUp answers with a whole copy of the database, which "planwave restore"
// takes, while runs go on.
func (s *server) backUp(c echo.Context) (err error) {
	snapshot, err := s.Store.Snapshot(c.Request().Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	info, err := snapshot.Stat()
	if err != nil {
		return err
	}
	// It may take as long as the line of who downloads it.
	if err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentDisposition, `attachment; filename="planwave-`+s.Clock().UTC().Format("20060102-150405")+`.db"`)
	h.Set(echo.HeaderContentLength, strconv.FormatInt(info.Size(), 10))
	h.Set(echo.HeaderCacheControl, "no-store")
	return c.Stream(http.StatusOK, "application/vnd.sqlite3", snapshot)
}
