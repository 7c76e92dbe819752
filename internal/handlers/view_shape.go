package handlers

import (
	"planwave/internal/layout"
	"planwave/internal/plan"
	"planwave/web/templates"
)

// The room in px that a graph has in a window that is wider than high, beside
// its panel, and the smallest size that it can be read at.
const (
	roomWide, roomHigh = 860, 560
	readableAt         = 0.65
)

// suited is the direction in which a plan is drawn where none was chosen: from
// the top to the bottom, unless the window is wide and the plan can be seen
// larger from the left to the right. It goes by the number of waves and the
// widest of them, so that nothing has to be drawn for it.
func suited(p plan.Plan, wide bool) layout.Direction {
	waves, err := plan.Waves(p)
	if err != nil || !wide {
		return layout.Down
	}
	most := 0
	for _, ids := range waves {
		most = max(most, len(ids))
	}
	span := func(n, size, gap int) float64 { return float64(n*size + (n-1)*gap) }
	down := scale(span(most, templates.NodeWidth, layout.DefaultNodeGap), span(len(waves), templates.NodeHeight, layout.DefaultLayerGap))
	right := scale(span(len(waves), templates.NodeWidth, layout.DefaultLayerGap), span(most, templates.NodeHeight, layout.DefaultNodeGap))
	if down < readableAt && right > down {
		return layout.Right
	}
	return layout.Down
}

// scale is the size at which a drawing fits its room.
func scale(w, h float64) float64 { return min(roomWide/w, roomHigh/h) }
