package layout

import (
	"math"
	"strconv"
)

// Path is the course of an edge: straight pieces and cubic Bézier curves, joined end to end.
type Path struct {
	// Points are the start, and then three points a piece: two control points and the end of the piece. The control points of a
	// straight piece are its ends.
	Points []Point
}

// Pieces returns the number of pieces of the path.
func (p Path) Pieces() int { return max(0, (len(p.Points)-1)/3) }

// Start returns where the edge leaves its first node.
func (p Path) Start() Point { return p.Points[0] }

// End returns where the edge reaches its last node.
func (p Path) End() Point { return p.Points[len(p.Points)-1] }

// At returns the point of a piece at t, which runs from 0 to 1.
func (p Path) At(piece int, t float64) Point {
	q := p.Points[3*piece : 3*piece+4]
	u := 1 - t
	a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return Point{
		X: a*q[0].X + b*q[1].X + c*q[2].X + d*q[3].X,
		Y: a*q[0].Y + b*q[1].Y + c*q[2].Y + d*q[3].Y,
	}
}

// SVG returns the path as the value of the attribute d of an SVG path element.
func (p Path) SVG() string {
	if len(p.Points) == 0 {
		return ""
	}
	b := appendPoint([]byte{'M'}, p.Points[0])
	for i := 0; i < p.Pieces(); i++ {
		q := p.Points[3*i : 3*i+4]
		if q[0] == q[1] && q[2] == q[3] {
			b = appendPoint(append(b, 'L'), q[3])
			continue
		}
		b = appendPoint(append(b, 'C'), q[1])
		b = appendPoint(append(b, ' '), q[2])
		b = appendPoint(append(b, ' '), q[3])
	}
	return string(b)
}

// appendPoint writes the point as SVG does, to a hundredth of a px.
func appendPoint(b []byte, p Point) []byte {
	b = strconv.AppendFloat(b, round(p.X), 'f', -1, 64)
	b = append(b, ',')
	return strconv.AppendFloat(b, round(p.Y), 'f', -1, 64)
}

// round rounds a length to a hundredth of a px.
func round(px float64) float64 { return math.Round(px*100) / 100 }

// transposed exchanges the two axes.
func (p Path) transposed() Path {
	q := Path{Points: make([]Point, len(p.Points))}
	for i, a := range p.Points {
		q.Points[i] = Point{X: a.Y, Y: a.X}
	}
	return q
}

// line adds a straight piece, or makes the last piece longer when it is straight in the same vertical line.
func (p *Path) line(to Point) {
	n := len(p.Points)
	from := p.Points[n-1]
	if from == to {
		return
	}
	if n >= 4 && p.Points[n-4] == p.Points[n-3] && p.Points[n-4].X == to.X && from.X == to.X {
		p.Points[n-2], p.Points[n-1] = to, to
		return
	}
	p.Points = append(p.Points, from, to, to)
}

// bend adds a curve that leaves and arrives in the vertical.
func (p *Path) bend(to Point) {
	from := p.Points[len(p.Points)-1]
	if from.X == to.X {
		p.line(to)
		return
	}
	mid := (from.Y + to.Y) / 2
	p.Points = append(p.Points, Point{from.X, mid}, Point{to.X, mid}, to)
}
