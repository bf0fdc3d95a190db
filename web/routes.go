package web

import "net/http"

// A routeKind says what a route answers with.
type routeKind string

// The kinds of routes.
const (
	pageKind  routeKind = "page"
	jsonKind  routeKind = "json"
	csvKind   routeKind = "csv"
	fileKind  routeKind = "file"
	badgeKind routeKind = "badge"
	formKind  routeKind = "form"
)

// A route is one of all that can be asked.
type route struct {
	pattern string // as http.ServeMux reads it
	kind    routeKind
	needs   access
	answer  func(*Server, http.ResponseWriter, *http.Request) error
}

// routes are all that can be asked; there are no others.
var routes []route

func init() {
	routes = []route{
		{"GET /{$}", pageKind, reading, (*Server).overview},
		{"GET /s/{suite}", pageKind, reading, (*Server).suite},
		{"GET /s/{suite}/grid.csv", csvKind, reading, (*Server).suiteCSV},
		{"GET /s/{suite}/series", pageKind, reading, (*Server).series},
		{"GET /s/{suite}/series.csv", csvKind, reading, (*Server).seriesCSV},
		{"GET /s/{suite}/compare", pageKind, reading, (*Server).compare},
		{"GET /runs/{run}", pageKind, reading, (*Server).run},
		{"GET /runs/{run}/trials/{position}", pageKind, reading, (*Server).trial},
		{"GET /machines", pageKind, reading, (*Server).machines},
		{"GET /machines/{machine}", pageKind, reading, (*Server).machine},
		{"GET /alerts", pageKind, reading, (*Server).alerts},
		{"POST /alerts/{alert}/acknowledge", formKind, acknowledging, (*Server).acknowledge},
		{"GET /badges/{suite}", badgeKind, reading, (*Server).badge},
		{"GET /static/{file}", fileKind, open, (*Server).static},

		{"GET /api/v1/alerts", jsonKind, reading, (*Server).apiAlerts},
		{"GET /api/v1/openapi.json", jsonKind, open, (*Server).openAPI},
		{"GET /api/v1/overview", jsonKind, reading, (*Server).apiOverview},
		{"GET /api/v1/suites/{suite}", jsonKind, reading, (*Server).apiSuite},
		{"GET /api/v1/suites/{suite}/grid", jsonKind, reading, (*Server).apiGrid},
		{"GET /api/v1/suites/{suite}/series", jsonKind, reading, (*Server).apiSeries},
		{"GET /api/v1/suites/{suite}/compare", jsonKind, reading, (*Server).apiCompare},
		{"GET /api/v1/runs/{run}", jsonKind, reading, (*Server).apiRun},
		{"GET /api/v1/runs/{run}/trials/{position}", jsonKind, reading, (*Server).apiTrial},
		{"GET /api/v1/machines", jsonKind, reading, (*Server).apiMachines},
		{"GET /api/v1/machines/{machine}", jsonKind, reading, (*Server).apiMachine},

		{"GET /", pageKind, open, (*Server).nothing},
	}
}
