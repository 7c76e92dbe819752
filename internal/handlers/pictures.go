package handlers

import (
	"sync"

	"planwave/web/templates"
)

// picture is a plan laid out, without what its steps are at.
type picture struct{ templates.GraphProps }

// clone returns props that can be filled in.
func (p picture) clone() templates.GraphProps {
	g := p.GraphProps
	g.Nodes = append([]templates.NodeProps(nil), g.Nodes...)
	g.Edges = append([]templates.EdgeProps(nil), g.Edges...)
	g.Folds = append([]templates.FoldProps(nil), g.Folds...)
	for i := range g.Nodes {
		if st := g.Nodes[i].Stack; st != nil {
			g.Nodes[i].Stack = &templates.StackProps{IDs: st.IDs}
		}
	}
	return g
}

// mostPictures is how many plans' pictures are kept.
const mostPictures = 256

// pictures keeps the pictures that were drawn last. It is safe for concurrent use.
type pictures struct {
	mu    sync.Mutex
	by    map[string]picture
	order []string // oldest first
}

func (k *pictures) get(hash string) (templates.GraphProps, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.by[hash]
	return p.clone(), ok
}

func (k *pictures) put(hash string, p picture) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[string]picture{}
	}
	if _, had := k.by[hash]; had {
		return
	}
	if len(k.order) == mostPictures {
		delete(k.by, k.order[0])
		k.order = k.order[1:]
	}
	k.by[hash], k.order = p, append(k.order, hash)
}
