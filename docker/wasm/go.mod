// A module of its own, so that the folder builds alone in its image and is no part of stopwatt.
module wasm

go 1.26.0

require (
	github.com/goccy/go-yaml v1.19.2
	github.com/golang/snappy v1.0.0
	github.com/tetratelabs/wazero v1.12.0
	golang.org/x/crypto v0.59.0
)

require golang.org/x/sys v0.50.0 // indirect
