// Command host runs one WebAssembly program on wazero, to its end.
//
//	host [-engine interpreter|compiler] [-cache FOLDER] PROGRAM [ARGUMENT…]
//
// The file is PROGRAM.wasm: it stands beside the same program compiled natively, so that a command line becomes a hosted one by what
// is put before it. The program gets its arguments, standard streams and clock, no files and no network. Its exit status is the
// host's; 125 says that the host itself failed.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// hostFailed is none of the statuses that the programs exit with.
const hostFailed = 125

func main() {
	engine := flag.String("engine", "compiler", "`interpreter` or compiler")
	cache := flag.String("cache", "", "keep compiled code in this `folder`, and take it from there")
	flag.Parse()
	status, err := run(context.Background(), *engine, *cache, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
	}
	os.Exit(status)
}

func run(ctx context.Context, engine, cache string, args []string) (status int, err error) {
	if len(args) == 0 {
		return hostFailed, errors.New("no program is named")
	}
	config, err := configure(engine, cache)
	if err != nil {
		return hostFailed, err
	}
	binary, err := os.ReadFile(args[0] + ".wasm")
	if err != nil {
		return hostFailed, err
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	// Nothing is closed: the process ends, and what it held ends with it.
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return hostFailed, err
	}
	_, err = runtime.InstantiateWithConfig(ctx, binary, module(args))
	return exitStatus(err)
}

func configure(engine, cache string) (wazero.RuntimeConfig, error) {
	var config wazero.RuntimeConfig
	switch engine {
	case "interpreter":
		config = wazero.NewRuntimeConfigInterpreter()
	case "compiler":
		config = wazero.NewRuntimeConfigCompiler()
	default:
		return nil, fmt.Errorf("no engine is called %q: interpreter or compiler", engine)
	}
	if cache == "" {
		return config, nil
	}
	kept, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	return config.WithCompilationCache(kept), nil
}

func module(args []string) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithArgs(args...).
		WithStdin(os.Stdin).WithStdout(os.Stdout).WithStderr(os.Stderr).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().
		WithRandSource(rand.Reader)
}

// exitStatus tells a program that ended with a status from one that could not be run: wazero reports both as errors, and a
// program that ended well as sys.ExitError with status 0.
func exitStatus(err error) (int, error) {
	var exit *sys.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return int(exit.ExitCode()), nil
	}
	return hostFailed, err
}
