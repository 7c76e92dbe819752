package layout

import "math"

// shelves distributes the sketches over shelves.
func shelves(parts []*sketch, gap float64, single bool) []shelf {
	for _, s := range parts {
		s.snap(gap)
	}
	if single {
		return []shelf{fill(parts, gap)}
	}
	for _, s := range parts {
		s.base = 0
	}
	limit := shelfWidth(parts, gap)
	var all []shelf
	for len(parts) > 0 {
		n, width := 0, 0.0
		for _, s := range parts {
			_, w := s.extent()
			if n > 0 && width+w > limit {
				break
			}
			width += w + gap
			n++
		}
		all = append(all, fill(parts[:n], gap))
		parts = parts[n:]
	}
	return all
}

// shelfWidth returns how wide a shelf may become: as wide as the widest sketch, and wide enough for a handy drawing of them all.
func shelfWidth(parts []*sketch, gap float64) float64 {
	const shape = 1.6
	widest, area := 0.0, 0.0
	for _, s := range parts {
		_, w := s.extent()
		widest = max(widest, w)
		area += (w + gap) * float64(s.layers()) * (gap + 100)
	}
	return max(widest, math.Sqrt(area*shape))
}

// fill puts the sketches on one shelf, each as far to the left as those before it allow in the bands they share.
func fill(parts []*sketch, gap float64) shelf {
	sh := shelf{parts: parts, shift: make([]float64, len(parts))}
	for _, s := range parts {
		sh.depth = max(sh.depth, s.base+s.layers())
	}
	right := make([]float64, sh.depth)
	for i, s := range parts {
		left, _ := s.extent()
		shift := -left
		for l := range s.layers() {
			low, _ := s.span(l)
			shift = max(shift, right[s.base+l]-low)
		}
		shift = math.Ceil(shift*2) / 2
		sh.shift[i] = shift
		for l := range s.layers() {
			_, high := s.span(l)
			right[s.base+l] = high + shift + gap
			sh.width = max(sh.width, high+shift)
		}
	}
	return sh
}

// snap rounds the positions to half a px, so that lines that should be straight are, or finer when the gaps are narrow.
func (s *sketch) snap(gap float64) {
	const narrow, coarse, fine = 8, 2, 16
	grid := float64(coarse)
	if gap < narrow {
		grid = fine
	}
	for v, x := range s.x {
		s.x[v] = math.Round(x*grid) / grid
	}
}

// span returns the left and the right border of a layer.
func (s *sketch) span(l int) (low, high float64) {
	row := s.row(l)
	first, last := row[0], row[len(row)-1]
	return s.x[first] - s.half(first), s.x[last] + s.half(last)
}

// half returns half the width of a vertex.
func (s *sketch) half(v int32) float64 {
	if s.dummy(v) {
		return 0
	}
	return s.width[v] / 2
}

// extent returns the left border and the width of the sketch.
func (s *sketch) extent() (left, width float64) {
	left, right := math.Inf(1), math.Inf(-1)
	for l := range s.layers() {
		low, high := s.span(l)
		left, right = min(left, low), max(right, high)
	}
	return left, right - left
}
