package report

// grids adds one grid per sheet, in blocks of columns where they do not fit
// beside each other.
func (p *page) grids(sheets []sheet) {
	for _, s := range sheets {
		p.lines = append(p.lines, "")
		p.text(s.title)
		p.block(p.gridOf(s))
	}
}

// sheets adds the contrast in grids.
func (p *page) sheets() {
	p.grids(sheetsOf(p.contrast, p.options))
	if p.options.As != AsValue && len(p.contrast.Workloads) > 1 {
		p.note("%s", meanNote(p.contrast))
	}
}

// gridOf draws a sheet. Names that are too long are cut to unique beginnings,
// which are listed below.
func (p *page) gridOf(s sheet) grid {
	g := grid{corner: []string{""}}
	group := ""
	names := p.rowNames(s)
	for i, row := range s.rows {
		if row.group != group {
			group = row.group
			g.rows = append(g.rows, gridRow{name: []string{cut(Clean(group), longestName)}})
		}
		if row.group != "" {
			names[i] = "  " + names[i]
		}
		g.rows = append(g.rows, gridRow{name: []string{names[i]}})
	}
	for i := range s.columns {
		g.columns = append(g.columns, gridColumn{cells: cellsOf(s, i)})
	}
	p.nameColumns(&g, s.columns)
	return g
}

// rowNames are the names of rows as shown, unique within each group.
func (p *page) rowNames(s sheet) []string {
	var shown []string
	for from, to := 0, 0; from < len(s.rows); from = to {
		var names []string
		for to = from; to < len(s.rows) && s.rows[to].group == s.rows[from].group; to++ {
			if !s.rows[to].isSum {
				names = append(names, s.rows[to].name)
			}
		}
		short := shorten(names, longestName)
		p.longer(names, short)
		for _, row := range s.rows[from:to] {
			if row.isSum {
				shown = append(shown, row.name)
				continue
			}
			shown, short = append(shown, short[0]), short[1:]
		}
	}
	return shown
}

// cellsOf are the cells of one column, empty ones beside the names of groups.
func cellsOf(s sheet, column int) [][]string {
	var cells [][]string
	group := ""
	for _, row := range s.rows {
		if row.group != group {
			group = row.group
			cells = append(cells, []string{""})
		}
		cells = append(cells, []string{row.cells[column].text})
	}
	return cells
}

// nameColumns heads the columns with names, cut as little as lets all columns
// stand beside each other; where nothing does, hardly.
func (p *page) nameColumns(g *grid, names []string) {
	var shown []string
	for limit := longestName; limit >= 8; limit-- {
		if shown = p.headed(g, names, limit); len(g.blocks(p.options.Width)) <= 1 {
			break
		}
	}
	if len(g.blocks(p.options.Width)) > 1 {
		shown = p.headed(g, names, longestName)
	}
	p.longer(names, shown)
}

// headed heads the columns with names of at most so many columns' width.
func (p *page) headed(g *grid, names []string, limit int) []string {
	shown := shorten(names, limit)
	for i := range g.columns {
		g.columns[i].heading = []string{shown[i]}
	}
	return shown
}
