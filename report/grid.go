package report

import "strings"

// gap is how many blanks stand between two columns.
const gap = 2

// A grid is a table whose first column is repeated when the others do not fit
// beside each other and are printed in blocks.
type grid struct {
	corner  []string // lines of the first column's heading
	rows    []gridRow
	columns []gridColumn
}

// A gridRow is one row: the lines of its first column. When text is set, it
// stands in place of all cells.
type gridRow struct {
	name []string
	text string
}

// A gridColumn is one column, aligned to the right: lines of its heading, and
// for each row lines of its cell.
type gridColumn struct {
	heading []string
	cells   [][]string
}

// width is how many columns of the terminal the longest line needs.
func (c gridColumn) width() int {
	widest := longest(c.heading)
	for _, cell := range c.cells {
		widest = max(widest, longest(cell))
	}
	return widest
}

func longest(lines []string) int {
	widest := 0
	for _, line := range lines {
		widest = max(widest, width(line))
	}
	return widest
}

// nameWidth is the width of the first column. Rows of text do not widen it.
func (g grid) nameWidth() int {
	widest := longest(g.corner)
	for _, row := range g.rows {
		if row.text == "" {
			widest = max(widest, longest(row.name))
		}
	}
	return widest
}

// render draws the grid in as many blocks as the width asks for, a blank line
// between two.
func (g grid) render(columns int) []string {
	var lines []string
	for i, block := range g.blocks(columns) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, g.renderBlock(block, columns, i == 0)...)
	}
	return lines
}

// blocks shares the columns out in as few blocks as fit the width, evenly. Rows
// of text alone need no column.
func (g grid) blocks(columns int) [][]gridColumn {
	if len(g.columns) == 0 {
		return [][]gridColumn{nil}
	}
	packed := g.pack(columns, len(g.columns))
	if n := len(packed); n > 1 {
		if even := g.pack(columns, (len(g.columns)+n-1)/n); len(even) == n {
			return even
		}
	}
	return packed
}

// pack fills block after block with as many columns as fit, most at the most.
func (g grid) pack(columns, most int) [][]gridColumn {
	var blocks [][]gridColumn
	room := 0
	for _, column := range g.columns {
		needs := gap + column.width()
		last := len(blocks) - 1
		if last < 0 || needs > room || len(blocks[last]) == most {
			blocks = append(blocks, nil)
			room = columns - g.nameWidth()
			last++
		}
		blocks[last] = append(blocks[last], column)
		room -= needs
	}
	return blocks
}

// renderBlock draws one block. What rows say in text is said in the first.
func (g grid) renderBlock(block []gridColumn, columns int, first bool) []string {
	names := g.nameWidth()
	headings := atBottom(block)
	lines := g.renderRow(g.corner, headings, block, names)
	for r, row := range g.rows {
		if row.text != "" {
			text := strings.TrimSpace(row.name[0]) + "  " + absent
			if first {
				text += "  " + row.text
			}
			lines = append(lines, wrap(text, columns, 4)...)
			continue
		}
		cells := make([][]string, len(block))
		for i, column := range block {
			cells[i] = column.cells[r]
		}
		lines = append(lines, g.renderRow(row.name, cells, block, names)...)
	}
	return lines
}

// atBottom are the headings of columns, so that their last lines are side by side.
func atBottom(block []gridColumn) [][]string {
	height := 0
	for _, column := range block {
		height = max(height, len(column.heading))
	}
	headings := make([][]string, len(block))
	for i, column := range block {
		headings[i] = append(make([]string, height-len(column.heading)), column.heading...)
	}
	return headings
}

// renderRow draws the lines of one row, cells aligned to the right and, where
// they have fewer lines than others, to the top.
func (g grid) renderRow(name []string, cells [][]string, block []gridColumn, first int) []string {
	height := len(name)
	for _, cell := range cells {
		height = max(height, len(cell))
	}
	lines := make([]string, height)
	for i := range lines {
		line := left(lineOf(name, i), first)
		for c, cell := range cells {
			line += blanks(gap) + right(lineOf(cell, i), block[c].width())
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// lineOf is line i of a cell, empty when it has fewer.
func lineOf(cell []string, i int) string {
	if i < len(cell) {
		return cell[i]
	}
	return ""
}

// align joins the parts of each line with blanks between, every part aligned to
// the right under those of the other lines.
func align(lines [][]string, between string) []string {
	var widths []int
	for _, parts := range lines {
		for i, part := range parts {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(part))
		}
	}
	joined := make([]string, len(lines))
	for l, parts := range lines {
		padded := make([]string, len(parts))
		for i, part := range parts {
			padded[i] = right(part, widths[i])
		}
		joined[l] = strings.Join(padded, between)
	}
	return joined
}
