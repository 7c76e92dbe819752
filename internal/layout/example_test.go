package layout_test

import (
	"context"
	"fmt"

	"planwave/internal/layout"
)

func ExampleDraw() {
	g := layout.Graph{
		Nodes: []layout.Node{
			{ID: "flights", W: 100, H: 40},
			{ID: "hotels", W: 100, H: 40},
			{ID: "budget", W: 100, H: 60},
		},
		Edges: []layout.Edge{{From: 0, To: 2}, {From: 1, To: 2}},
	}
	d, err := layout.Draw(context.Background(), g, layout.Options{Rank: []int{1, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%g × %g px, %d crossings\n", d.W, d.H, d.Crossings)
	for _, band := range d.Layers {
		fmt.Println("wave", band.Rank, band.Box)
		for _, v := range band.Nodes {
			fmt.Println("  ", g.Nodes[v].ID, d.Nodes[v])
		}
	}
	for _, p := range d.Paths {
		fmt.Println(p.SVG())
	}
	// Output:
	// 264 × 188 px, 0 crossings
	// wave 1 {0 16 264 40}
	//    flights {16 16 100 40}
	//    hotels {148 16 100 40}
	// wave 2 {0 112 264 60}
	//    budget {82 112 100 60}
	// M66,56C66,84 132,84 132,112
	// M198,56C198,84 132,84 132,112
}

func ExampleDraw_cycle() {
	g := layout.Graph{
		Nodes: []layout.Node{{ID: "a"}, {ID: "b"}},
		Edges: []layout.Edge{{From: 0, To: 1}, {From: 1, To: 0}},
	}
	_, err := layout.Draw(context.Background(), g, layout.Options{})
	fmt.Println(err)
	// Output: layout: the graph has a cycle: "a" → "b" → "a"
}
